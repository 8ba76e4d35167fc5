package bound

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// TestWorld checks the report of every world: it holds, names are unique, every number can be
// marshalled, and strict inequalities and equalities are reported as such.
func TestWorld(t *testing.T) {
	exact := []string{"markov3-exact", "nested3-exact", "pairs4-exact", "parity4-exact"}
	wrong := []string{"dirichlet3-noisy", "markov4-sharp", "xor3-mixed", "timed3"}
	for _, name := range slices.Concat(exact, wrong, []string{"theorem5-point3"}) {
		t.Run(name, func(t *testing.T) {
			r := reftest.Must(World(context.Background(), reftest.Law(t, name), nil))(t)
			if !r.Holds || r.Schema != Schema || r.Mode != "world" || len(r.Plots) == 0 {
				t.Errorf("holds %v, schema %q, mode %q, %d plots", r.Holds, r.Schema, r.Mode, len(r.Plots))
			}
			seen := make(map[string]bool)
			for _, l := range r.Lines {
				if seen[l.Name] {
					t.Errorf("%s: twice", l.Name)
				}
				seen[l.Name] = true
				if strings.Contains(l.Name, "=") && l.About == "" || !strings.Contains(l.Name, l.About) {
					t.Errorf("%s is about %q", l.Name, l.About)
				}
				if !l.OK || l.Unit == "" || l.Statement == "" || math.IsNaN(l.Gap.Mean) {
					t.Errorf("%s: %+v", l.Name, l)
				}
			}
			reftest.Must(json.Marshal(r))(t)
			switch {
			case slices.Contains(exact, name):
				if v := find(t, r, "theorem4").Verdict; !strings.Contains(v, ", equal within") {
					t.Errorf("theorem 4 with the posterior: %q", v)
				}
			case slices.Contains(wrong, name):
				l := find(t, r, "theorem4")
				if !strings.HasSuffix(l.Verdict, ", strictly") || l.Left.Mean >= l.Right.Mean {
					t.Errorf("theorem 4 with a wrong μ: %v < %v: %q", l.Left.Mean, l.Right.Mean, l.Verdict)
				}
			}
		})
	}
}

// TestWorldTheorem5 checks equality to 1e-9 on the construction.
func TestWorldTheorem5(t *testing.T) {
	r := reftest.Must(World(context.Background(), reftest.Law(t, "theorem5-point3"), nil))(t)
	for _, name := range []string{"theorem5", "theorem5.closed"} {
		l := find(t, r, name)
		if math.Abs(l.Gap.Mean) > 1e-9 || math.Abs(l.Left.Mean-0.75) > 1e-9 || !strings.HasPrefix(l.Verdict, "equal within 1e-09") {
			t.Errorf("%s: %v and %v: %q", name, l.Left.Mean, l.Right.Mean, l.Verdict)
		}
	}
}

// TestWorldValues compares lines with numbers from the paper's notes and the files.
func TestWorldValues(t *testing.T) {
	r := reftest.Must(World(context.Background(), reftest.Law(t, "timed3"), nil))(t)
	for _, c := range []struct {
		line        string
		left, right float64
	}{
		{"entropy", 1.736587, 1.736587},
		{"nelbo.lambda", 1.845872, 1.845872},
		{"theorem4", 0.027670, 0.109285},
	} {
		l := find(t, r, c.line)
		if math.Abs(l.Left.Mean-c.left) > 1e-6 || math.Abs(l.Right.Mean-c.right) > 1e-6 {
			t.Errorf("%s: %v and %v, want %v and %v", c.line, l.Left.Mean, l.Right.Mean, c.left, c.right)
		}
	}
}

// TestWorldMistakes checks that errors about invalid inputs are one line and name the file.
func TestWorldMistakes(t *testing.T) {
	good := reftest.Must(os.ReadFile(reftest.Law(t, "xor3-mixed")))(t)
	for name, content := range map[string]string{
		"empty":     "",
		"no q0":     strings.Replace(string(good), `"q0"`, `"q9"`, 1),
		"table":     `{"schema":"mdm-laws-scaling/1"}`,
		"no schema": `{}`,
		"MASK data": `{"schema":"mdm-laws-maskmass/1","d":1,"V":1,"T":1,"q0_states":[0.5,0.5]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "world.json")
			reftest.OK(t, os.WriteFile(path, []byte(content), 0o600))
			reftest.FailsInLine(t, reftest.Err(World(context.Background(), path, nil)), path)
		})
	}
	reftest.Fails(t, reftest.Err(World(context.Background(), filepath.Join(t.TempDir(), "none.json"), nil)), "", "a missing file is no error")
}

func TestWorldVerdicts(t *testing.T) {
	l := newDraft("world", 0)
	l.below("strict", "", "", 1, 2, 1e-10)
	l.below("same", "", "", 1, 1, 1e-10)
	l.below("wrong", "", "", 2, 1, 1e-10)
	l.below("infinite", "", "", math.Inf(1), math.Inf(1), 1e-10)
	l.below("cases", "", "", 1, 1.5, 1e-10, 0.5, -1)
	l.equal("equal", "", "", 3, 3+1e-12, 1e-10)
	l.equal("unequal", "", "", 3, 4, 1e-10)
	for i, want := range []struct {
		ok   bool
		text string
	}{{true, "strictly"}, {true, "equal within 1e-10"}, {false, "violated"}, {true, "holds"}, {false, "violated"}, {true, "equal within"}, {false, "violated"}} {
		if l.lines[i].OK != want.ok || !strings.Contains(l.lines[i].Verdict, want.text) {
			t.Errorf("%s: %v, %q", l.lines[i].Name, l.lines[i].OK, l.lines[i].Verdict)
		}
	}
	if l.finish().Holds {
		t.Error("a violated line holds")
	}
}

// FuzzParseWorld checks that parsing returns an error or a report and never panics.
func FuzzParseWorld(f *testing.F) {
	f.Add([]byte(`{"schema":"mdm-laws-world/1","d":1,"V":2,"mask":2,"q0":[0.5,0.5],"mu0":[[[]],[[]],[[0.5,0.5]]],"grids":[{"T":1,"delta":0.5}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return
		}
		r, err := parseWorld(context.Background(), data, nil)
		if err == nil && len(r.Lines) == 0 {
			t.Error("no error, no lines")
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error of several lines: %v", err)
		}
	})
}
