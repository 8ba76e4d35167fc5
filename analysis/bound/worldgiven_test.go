package bound

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"mdmgen/analysis/report"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// asked makes a case.
func asked(t testing.TB, o catalog.Options) Case {
	t.Helper()
	s, err := catalog.New(o, samplers.Spec{InfiniteSigma: true})
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
		data, err := os.ReadFile(reftest.Law(t, name))
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
					c := asked(t, catalog.Options{Sampler: sampler, Grid: kinds[g.Kind], Steps: g.N, T: (*catalog.Theta)(&start), Delta: (*catalog.Theta)(&g.Delta), Finish: finish})
					r, err := World(context.Background(), reftest.Law(t, name), []Case{c})
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
	path := reftest.Law(t, "xor3-mixed")
	r, err := World(context.Background(), path, []Case{
		asked(t, catalog.Options{Sampler: "fhs"}),
		asked(t, catalog.Options{Sampler: "parallel-fhs", Sizes: "1,1,1"}),
		asked(t, catalog.Options{Sampler: "ordered"}),
		asked(t, catalog.Options{Sampler: "tau-leaping", Grid: "theta:3,1,0.5,0.1", Tau: "one"}),
		asked(t, catalog.Options{Sampler: "euler", Noise: "linear", Steps: 4}),
		asked(t, catalog.Options{Sampler: "dmpm", Steps: 4, Finish: "leave"}),
		asked(t, catalog.Options{Sampler: "trapezoidal", Steps: 2, Finish: "leave"}),
		asked(t, catalog.Options{Sampler: "matu", Steps: 4, Finish: "leave"}),
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
	// All of what is left masked is TV from a law that leaves nothing, and more.
	if _, _, masked := report.LawTable(r.Laws); !(masked[len(masked)-3] > 0.5 && masked[len(masked)-3] <= lineOf(t, r, "tv.dmpm.N=4").Right.Mean+1e-12) {
		t.Errorf("masked: %v", masked)
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
	for _, given := range [][]Case{nil, {asked(t, catalog.Options{Sampler: "euler", Steps: 4})}} {
		r, err := World(ctx, reftest.Law(t, "xor3-mixed"), given)
		if err == nil || len(r.Lines) == 0 || lineOf(t, r, "theorem4").Verdict == "" {
			t.Errorf("error %v, %d lines", err, len(r.Lines))
		}
	}
}
