package app

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// exports names the folder that tools/reference/exports.py wrote.
const exports = "MDMGEN_TEST_EXPORTS"

// exportedForm is a form of exports.py: the facts that its graph cannot tell, and how far its
// logits may be from the checkpoint's.
type exportedForm struct {
	name  string
	facts []string
	limit float64
	// static graphs take canvases of 32 positions only.
	static bool
}

// Limits: float32 in another order of sums; float16 has 11 bits, for logits of about 10; int8 has 8
// for weights and what they are multiplied with: the logits measured differ by up to 0.7.
var exportedForms = []exportedForm{
	{"dynamic", []string{"length=32"}, 1e-4, false},
	{"batch1", []string{"length=32"}, 1e-4, false},
	{"batch4", []string{"length=32"}, 1e-4, false},
	{"static", nil, 1e-4, true},
	{"mask", []string{"length=32"}, 1e-4, false},
	{"sigma", []string{"length=32", "time_conditioned=false"}, 1e-4, false},
	{"float16", []string{"length=32"}, 5e-2, false},
	{"int8", []string{"length=32"}, 1, false},
	{"names", []string{"length=32", "input=noisy_tokens"}, 1e-4, false},
}

// TestExports runs generate, score, bound and verify on a network that both of torch's exporters
// wrote in many forms, and compares what they say with the checkpoint that it was made from.
func TestExports(t *testing.T) {
	dir := os.Getenv(exports)
	if dir == "" {
		t.Skipf("%s does not name a folder that tools/reference/exports.py wrote, which needs torch", exports)
	}
	needRuntime(t)
	native := reftest.Data(t, "reference", "checkpoints", "mdlm")
	windows := filepath.Join(t.TempDir(), "windows.jsonl")
	if err := os.WriteFile(windows, []byte(idWindows(6, 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, model string, more []string, args ...string) string {
		t.Helper()
		return mustRun(t, "", append(append(args, "--model", model), more...)...)
	}
	generate := []string{"generate", "-n", "5", "--seed", "7", "--length", "32", "--format", "ids", "--sampler", "tweedie", "--steps", "12"}
	score := []string{"score", windows, "--seed", "3", "--draws", "5", "--length", "32", "--format", "json"}
	bound := []string{"bound", windows, "--seed", "3", "--plans", "3", "--length", "32", "--limit", "3", "--json"}
	ids, nats, lines := run(t, native, nil, generate...), windowNats(t, run(t, native, nil, score...)), boundSides(t, run(t, native, nil, bound...))
	for _, tool := range []string{"ts", "dynamo"} {
		for _, form := range exportedForms {
			t.Run(tool+"-"+form.name, func(t *testing.T) {
				path := filepath.Join(dir, tool+"-"+form.name+".onnx")
				more := []string{"--set", "fact=mask_id=130"}
				for _, f := range form.facts {
					more = append(more, "--set", "fact="+f)
				}
				got := run(t, path, more, generate...)
				if form.limit <= 1e-4 && got != ids {
					t.Errorf("ids:\n%swant\n%s", got, ids)
				}
				worst := apart(t, windowNats(t, run(t, path, more, score...)), nats) / 32
				// A line is of up to 32 tokens of a window.
				side := apart(t, boundSides(t, run(t, path, more, bound...)), lines) / 32
				if !(worst <= form.limit) || !(side <= form.limit) {
					t.Errorf("likelihoods differ by %.2g, bounds by %.2g nats per token, want at most %g", worst, side, form.limit)
				}
				golden := filepath.Join(native, "golden.safetensors")
				if form.static {
					golden = filepath.Join(dir, "golden32.safetensors")
				}
				report := run(t, path, more, "verify", "--golden", golden, "--tolerance", fmt.Sprint(form.limit))
				if !strings.HasSuffix(report, "OK\n") {
					t.Errorf("verify: %s", report)
				}
				t.Logf("same ids %t; nats per token differ by %.2g, bounds by %.2g\n%s", got == ids, worst, side, report)
			})
		}
	}
}

// idWindows are n lines of ids of tokens of the checkpoint.
func idWindows(n, length int) string {
	var b strings.Builder
	for i := range n {
		ids := make([]int, length)
		for l := range ids {
			ids[l] = (i*31 + l*l*7 + l) % 130
		}
		line, _ := json.Marshal(map[string]any{"ids": ids})
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.String()
}

// windowNats are the nats of the windows of a record of score.
func windowNats(t *testing.T, text string) map[string]float64 {
	t.Helper()
	var r struct {
		Windows []struct{ Nats struct{ Mean float64 } }
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil || len(r.Windows) == 0 {
		t.Fatalf("%d windows: %v", len(r.Windows), err)
	}
	out := make(map[string]float64)
	for i, w := range r.Windows {
		out[fmt.Sprint("window ", i)] = w.Nats.Mean
	}
	return out
}

// boundSides are the sides of the lines of a report of bound that are finite.
func boundSides(t *testing.T, text string) map[string]float64 {
	t.Helper()
	var r struct {
		Lines []struct {
			Name        string
			Left, Right json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil || len(r.Lines) == 0 {
		t.Fatalf("%d lines: %v", len(r.Lines), err)
	}
	out := make(map[string]float64)
	for _, l := range r.Lines {
		for side, raw := range map[string]json.RawMessage{"left": l.Left, "right": l.Right} {
			// An exact number stands by itself, an estimate with its interval.
			var x float64
			var e struct{ Mean *float64 }
			if json.Unmarshal(raw, &x) == nil {
				out[l.Name+" "+side] = x
			} else if json.Unmarshal(raw, &e) == nil && e.Mean != nil {
				out[l.Name+" "+side] = *e.Mean
			}
		}
	}
	return out
}

// apart is the greatest difference of two lists of the same names.
func apart(t *testing.T, got, want map[string]float64) (worst float64) {
	t.Helper()
	for name, x := range want {
		y, ok := got[name]
		if !ok || len(got) != len(want) {
			t.Fatalf("%s: is there %t; %d values, want %d", name, ok, len(got), len(want))
		}
		worst = max(worst, math.Abs(x-y))
	}
	return worst
}
