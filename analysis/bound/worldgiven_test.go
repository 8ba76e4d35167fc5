package bound

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/samplers"
)

// asked makes a case.
func asked(t testing.TB, o samplers.Options) Case {
	t.Helper()
	s, err := samplers.New(o, samplers.Spec{InfiniteSigma: true})
	if err != nil {
		t.Fatal(err)
	}
	c := Case{Name: s.Settings().Sampler, N: o.Steps, Sampler: s}
	if steps, ok := s.Steps(); ok {
		c.N = steps.Grid.Steps()
	}
	return c
}

// TestWorldGiven compares the report of given samplers with the laws and both sides of
// Theorem 1 that a reference file has for the same grids.
func TestWorldGiven(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "timed3", "markov3-exact"} {
		var f struct {
			Grids []struct {
				ID, Kind string
				T        *float64
				Delta    float64
				N        int
			}
			Laws []struct {
				Grid, Sampler                            string
				LawDenoised                              []float64 `json:"law_denoised"`
				TVQ0                                     float64   `json:"tv_q0"`
				KLQ0                                     *float64  `json:"kl_q0"`
				TVQDelta                                 float64   `json:"tv_q_delta"`
				TVQ0Denoised, KLQ0Denoised, PlanDenoised float64
			}
			Theorem1 []struct {
				Grid      string
				FrozenTV  float64 `json:"frozen_tv"`
				FrozenRHS float64 `json:"frozen_rhs"`
				EulerTV   float64 `json:"euler_tv"`
				EulerRHS  float64 `json:"euler_rhs"`
				LTV       float64 `json:"L_TV"`
			}
		}
		data, err := os.ReadFile(worldPath(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatal(err)
		}
		kinds := map[string]string{"uniform": "uniform", "paper": "paper", "uniform_masked_fraction": "lambda"}
		compared := 0
		for _, g := range f.Grids {
			if g.N != 4 && g.N != 16 {
				continue
			}
			start := math.Inf(1)
			if g.T != nil {
				start = *g.T
			}
			for _, finish := range []string{"leave", "denoise"} {
				for _, sampler := range []string{"euler", "tweedie"} {
					if sampler == "euler" && g.T == nil {
						continue
					}
					c := asked(t, samplers.Options{Sampler: sampler, Grid: kinds[g.Kind], Steps: g.N, T: &start, Delta: &g.Delta, Finish: finish})
					r, err := World(context.Background(), worldPath(t, name), []Case{c})
					if err != nil {
						t.Fatal(err)
					}
					if !r.Holds {
						t.Errorf("%s %s %s: violated", name, g.ID, sampler)
					}
					near := func(what string, got, want float64) {
						t.Helper()
						compared++
						if math.Abs(got-want) > 1e-9 {
							t.Errorf("%s %s %s %s: %s is %v, want %v", name, g.ID, sampler, finish, what, got, want)
						}
					}
					at := fmt.Sprintf("%s.N=%d", sampler, g.N)
					for _, l := range f.Laws {
						if l.Grid != g.ID || l.Sampler != sampler {
							continue
						}
						near("TV(q_δ)", lineOf(t, r, "tv-delta."+at).Right.Mean, l.TVQDelta)
						if finish == "leave" {
							near("TV(q0)", lineOf(t, r, "tv."+at).Right.Mean, l.TVQ0)
							if l.KLQ0 != nil {
								near("KL(q0)", lineOf(t, r, "kl."+at).Right.Mean, *l.KLQ0)
							}
							continue
						}
						law := r.Laws[len(r.Laws)-1]
						for i, p := range l.LawDenoised {
							near(law.Outcomes[i], law.P[i], p)
						}
					}
					for _, b := range f.Theorem1 {
						if b.Grid != g.ID || sampler != "euler" {
							continue
						}
						n := fmt.Sprintf("N=%d", g.N)
						near("frozen TV", lineOf(t, r, "theorem1.frozen."+n).Left.Mean, b.FrozenTV)
						near("frozen side", lineOf(t, r, "theorem1.frozen."+n).Right.Mean, b.FrozenRHS)
						near("Euler's TV", lineOf(t, r, "theorem1.euler."+n).Left.Mean, b.EulerTV)
						near("Euler's side", lineOf(t, r, "theorem1.euler."+n).Right.Mean, b.EulerRHS)
						near("L_TV", lineOf(t, r, "assumption1."+n).Left.Mean, b.LTV)
					}
				}
			}
		}
		if compared < 100 {
			t.Errorf("%s: %d values compared", name, compared)
		}
	}
}

// TestWorldGivenOthers: samplers that are no steps of a grid, and grids by lists.
func TestWorldGivenOthers(t *testing.T) {
	path := worldPath(t, "xor3-mixed")
	r, err := World(context.Background(), path, []Case{
		asked(t, samplers.Options{Sampler: "fhs"}),
		asked(t, samplers.Options{Sampler: "parallel-fhs", Sizes: "1,1,1"}),
		asked(t, samplers.Options{Sampler: "ordered"}),
		asked(t, samplers.Options{Sampler: "tau-leaping", Grid: "theta:3,1,0.5,0.1", Tau: "one"}),
		asked(t, samplers.Options{Sampler: "euler", Noise: "linear", Steps: 4}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Holds {
		t.Error("violated")
	}
	for _, law := range r.Laws {
		sum := 0.0
		for _, p := range law.P {
			sum += p
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s sums to %v", law.Name, sum)
		}
	}
	if got, want := lineOf(t, r, "kl.parallel-fhs").Right.Mean, lineOf(t, r, "kl.fhs").Right.Mean; math.Abs(got-want) > 1e-12 {
		t.Errorf("groups of one: KL %v, first-hitting %v", got, want)
	}
	for _, l := range r.Lines {
		if strings.HasPrefix(l.Name, "theorem1") || strings.HasPrefix(l.Name, "collision.ordered") {
			t.Errorf("%s: is claimed of nothing that was given", l.Name)
		}
	}
}

// TestWorldInterrupted: what was done is told.
func TestWorldInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, given := range [][]Case{nil, {asked(t, samplers.Options{Sampler: "euler", Steps: 4})}} {
		r, err := World(ctx, worldPath(t, "xor3-mixed"), given)
		if err == nil || len(r.Lines) == 0 || lineOf(t, r, "theorem4").Verdict == "" {
			t.Errorf("error %v, %d lines", err, len(r.Lines))
		}
	}
}

// TestWorldGivenMask: Euler on data with MASK, whose default grid a given one repeats.
func TestWorldGivenMask(t *testing.T) {
	path := worldPath(t, "maskmass2")
	all, err := World(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	start, zero := 5.0, 0.0
	c := asked(t, samplers.Options{Sampler: "euler", Steps: 16, T: &start, Delta: &zero, Finish: "leave"})
	r, err := World(context.Background(), path, []Case{c})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"theorem1.frozen.N=16", "corollary1.N=16"} {
		a, b := lineOf(t, all, name), lineOf(t, r, name)
		if math.Abs(a.Left.Mean-b.Left.Mean) > 1e-12 || math.Abs(a.Right.Mean-b.Right.Mean) > 1e-12 {
			t.Errorf("%s: %v and %v, want %v and %v", name, b.Left.Mean, b.Right.Mean, a.Left.Mean, a.Right.Mean)
		}
	}
	for _, bad := range []samplers.Options{{Sampler: "tweedie", Steps: 4, Finish: "leave"}, {Sampler: "euler", Steps: 4}, {Sampler: "fhs"}} {
		if _, err := World(context.Background(), path, []Case{asked(t, bad)}); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// TestTables works out tables and compares some numbers with what the reference has.
func TestTables(t *testing.T) {
	for name, want := range map[string]map[string][2]float64{
		"gumbel-small": {"gumbel.truncated[0].M=0.5[3]": {0.5, 0.736653}, "gumbel.max": {16.635532, 36.736801}},
		"scaling-small": {
			"scaling.markov3-exact.uniform.euler.N=8": {0.821212, math.NaN()}, "short-horizon.markov3-exact.euler.T=0.5.N=16": {0.046516, 0.939084},
			"nested.d=8.q=7.delta=0.2.N=2000": {0.046134, 0.040118},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := World(context.Background(), worldPath(t, name), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Holds {
				t.Error("violated")
			}
			seen := make(map[string]bool)
			for _, l := range r.Lines {
				if seen[l.Name] {
					t.Errorf("%s: twice", l.Name)
				}
				seen[l.Name] = true
			}
			for line, sides := range want {
				l := lineOf(t, r, line)
				for i, got := range []float64{l.Left.Mean, l.Right.Mean} {
					if !math.IsNaN(sides[i]) && math.Abs(got-sides[i]) > 1e-6 {
						t.Errorf("%s: side %d is %v, want %v", line, i, got, sides[i])
					}
				}
			}
		})
	}
}

// TestTheorem3Table counts steps of a few rows of the reference's tables.
func TestTheorem3Table(t *testing.T) {
	r, err := parseWorld(context.Background(), []byte(`{"schema":"mdm-laws-theorem3/1",
		"steps_needed":[{"construction":"point","d":100,"eps":1e-4,"T":9.210340371976184},{"construction":"pairs","d":100,"eps":1e-4,"T":9.210340371976184}],
		"steps_needed_best_T":[{"construction":"point","d":100,"eps":1e-4,"T":3.385}],
		"steps_sufficient_theorem1_frozen":[{"d":10,"eps":0.01,"T":5.298317366548036}],
		"p_M":[{"gamma":0.1,"T":4,"N":4}]}`), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"theorem3.point.d=100.eps=1e-04": 734, "best-T.point.T=3.385.d=100.eps=1e-04": 346, "frozen.d=10.eps=1e-02": 1724, "mask.gamma=0.1.T=4.N=4": 3.1735788,
	} {
		if got := lineOf(t, r, name).Left.Mean; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if l := lineOf(t, r, "theorem3.pairs.d=100.eps=1e-04"); l.Right.Mean != 11441 || !l.OK {
		t.Errorf("pairs: %+v", l)
	}
}

// TestTableMistakes: a fault of a table is one line that names the field.
func TestTableMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{"schema":"mdm-laws-scaling/1"}`:                                                                "no rows",
		`{"schema":"mdm-laws-scaling/1","small_worlds":[{"world":"../x","N":[1]}]}`:                      "beside this one",
		`{"schema":"mdm-laws-scaling/1","small_worlds":7}`:                                               `field "small_worlds"`,
		`{"schema":"mdm-laws-scaling/1","nested_codes":[{"d":8,"q":7,"N":20,"T":1e9,"delta":1}]}`:        "at most",
		`{"schema":"mdm-laws-scaling/1","paper_grid_from_kappa":[{"T":5,"delta":0.01,"kappa":2}]}`:       "kappa is 2",
		`{"schema":"mdm-laws-scaling/1","pairs_large_d":[{"d":1,"V":0,"T":5,"delta":0.01,"kappa":0.1}]}`: "d is 1",
		`{"schema":"mdm-laws-theorem3/1","steps_needed":[{"construction":"round","d":10,"eps":0.1}]}`:    `construction is "round"`,
		`{"schema":"mdm-laws-theorem3/1","steps_needed":[{"construction":"pairs","d":1,"eps":9}]}`:       "d is 1",
		`{"schema":"mdm-laws-theorem3/1","p_M":[{"gamma":0,"T":1,"N":1}]}`:                               "gamma is 0",
		`{"schema":"mdm-laws-gumbel/1","truncated_gumbel":[{"p":[0.5,0.6],"M":1}]}`:                      "sum to 1",
		`{"schema":"mdm-laws-gumbel/1","finite_precision":[{"case":"","p":[1]}]}`:                        "a name of its own",
		`{"schema":"mdm-laws-gumbel/1","finite_precision":[{"case":3,"p":[1]}]}`:                         "must be",
	} {
		path := filepath.Join(t.TempDir(), "table.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := World(context.Background(), path, nil)
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := World(context.Background(), worldPath(t, "gumbel-small"), []Case{asked(t, samplers.Options{})}); err == nil {
		t.Error("a table took a sampler")
	}
}
