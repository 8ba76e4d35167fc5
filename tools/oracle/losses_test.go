package oracle

import (
	"math"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// readLosses opens a file of losses with its model.
func readLosses(t *testing.T, name string) *file {
	t.Helper()
	f := committed(t).open(t, reftest.Data(t, "reference", "likelihood", name+".json"))
	f.net = openModel(t, reftest.Data(t, "reference", "checkpoints", name))
	return f
}

// TestLossesBreach checks that a wrong value is found and named.
func TestLossesBreach(t *testing.T) {
	f := readLosses(t, "radd")
	f.doc["losses_float64"].(map[string]any)["k_DCE"].([]any)[3] = 280.1 // and not 279.9458829507217
	m := &matcher{t: t, limit: lossesLimit}
	losses(m, f)
	for _, it := range m.items {
		// The float32 value beside is then too far from it, too.
		if it.OK == (it.Name == "losses_float64.k_DCE" || it.Name == "floor_relative") {
			t.Errorf("%s: ok %t", it.Name, it.OK)
		}
		if !it.OK && it.Name != "floor_relative" && it.Worst.Path != "losses_float64.k_DCE[3]" {
			t.Errorf("the worst is at %s", it.Worst.Path)
		}
	}
}

// TestLossesEveryField changes a value of every numeric field and requires a breach or a fault.
func TestLossesEveryField(t *testing.T) {
	for _, name := range []string{"mdlm", "radd", "sedd"} {
		f := readLosses(t, name)
		tried := make(map[string]int)
		for _, l := range leaves("", f.doc, nil) {
			// The second value of a field, and the only one of a field that is a number.
			if tried[l.item()]++; tried[l.item()] != 2 && l.item() != l.path {
				continue
			}
			if l.x == math.Trunc(l.x) && !strings.Contains(l.path, "loss") && !strings.Contains(l.path, "score") {
				l.set(l.x + 1)
			} else {
				l.set(l.x + 1e-2*max(1, math.Abs(l.x)))
			}
			requireBreach(t, f, name+": "+l.path)
			l.set(l.x)
		}
		for _, flag := range []string{"time_conditioning", "scale_by_sigma"} {
			if old, ok := f.doc[flag].(bool); ok {
				f.doc[flag] = !old
				requireBreach(t, f, name+": "+flag)
				f.doc[flag] = old
			}
		}
		if len(tried) < 14 {
			t.Errorf("%s: %d fields", name, len(tried))
		}
	}
}

func requireBreach(t *testing.T, f *file, changed string) {
	t.Helper()
	m := &matcher{t: t, limit: lossesLimit}
	if losses(m, f); m.ok() {
		t.Errorf("%s was changed and nothing is wrong", changed)
	}
}
