package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

func readMore(t testing.TB, name string) *file {
	t.Helper()
	return committed(t).open(t, reftest.Data(t, "reference", "laws-more", name+".json"))
}

// TestMoreChanged changes one number of every item of a file of further samplers.
func TestMoreChanged(t *testing.T) {
	// What other values are computed from is found by those.
	inputs := []string{"T", "delta", "N", "masked_fraction", "theta", "floor", "gamma"}
	for _, name := range []string{"markov4-sharp", "timed3"} {
		f := readMore(t, name)
		want := moreValues(t, f)
		namesChanged(t, name, f.doc, want, 500, func(l leaf) bool {
			return slices.Contains(inputs, l.field()) || isGiven(want, l.path)
		})
	}
}

// isGiven says whether a value is one from which others are computed.
func isGiven(want any, path string) bool {
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		switch w := want.(type) {
		case object:
			want = w[step]
		case list:
			i := 0
			fmt.Sscan(step, &i)
			want = w[i]
		}
		if want == any(given{}) || want == any(exempt{}) {
			return true
		}
	}
	return false
}

// TestMoreInputs changes what laws are computed from, one number of each kind in the
// file itself: something that follows from it no longer holds.
func TestMoreInputs(t *testing.T) {
	fields := []string{"T", "delta", "masked_fraction", "theta", "floor", "sizes", "refined", "d", "V", "masked_fractions", "forward_times"}
	f := readMore(t, "timed3")
	tried := make(map[string]bool)
	for _, l := range leaves("", f.doc, nil) {
		if !slices.Contains(fields, l.field()) {
			continue
		}
		kind, at := l.field(), 0
		if _, err := fmt.Sscanf(l.path, "laws[%d]", &at); err == nil {
			sampler := f.doc["laws"].([]any)[at].(map[string]any)["sampler"].(string)
			if samplerKinds[sampler] == nil {
				continue // Nothing is compared with it.
			}
			kind += " " + sampler
		}
		// Without a bound above it, the floor is felt or not.
		if tried[kind] || l.field() == "floor" && l.x == 0 {
			continue
		}
		tried[kind] = true
		if l.x == 1 {
			l.set(l.x - 1e-6)
		} else {
			l.set(l.x + 1e-6)
		}
		m := &matcher{t: t, limit: lawsLimit}
		if moreFile(m, f); m.ok() {
			t.Errorf("%s was changed by 1e-6 and the file is still OK", l.path)
		}
		l.set(l.x)
	}
	if len(tried) < 20 {
		t.Errorf("only %d kinds of numbers were changed", len(tried))
	}
}
