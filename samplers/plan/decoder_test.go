package plan_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestSigma checks that a time-conditioned network is queried at the time of the reveal by fhs, at
// θ_k by a grid, and at δ by the finishing call.
func TestSigma(t *testing.T) {
	for _, o := range []catalog.Options{{}, {Sampler: "euler", Steps: 3}, {Sampler: "parallel-fhs", Steps: 2}} {
		s := lawstest.NewFor(t, o, samplers.Spec{TimeConditioned: true})
		net := lawstest.NewHashNet(true)
		cfg := lawstest.Config(s, 1)
		steps, onGrid := s.Grid()
		cfg.OnStep = func(f samplers.Step) {
			var want float64
			switch {
			case f.Finish:
				want = 0.01
			case onGrid:
				want = steps.Grid.Theta[f.Step]
			default:
				want = -math.Log1p(-f.Hits[0])
			}
			if f.Theta != want {
				t.Errorf("%v: asked at σ = %v, want %v", s, f.Theta, want)
			}
		}
		lawstest.Collect(t, net, samplers.Copies(slices.Repeat([]int{6}, 6), 0, 10), cfg)
	}
}

// TestSamplesGolden freezes samples of a world: the samples of a seed must not change.
func TestSamplesGolden(t *testing.T) {
	w, _ := lawstest.Open(t, "timed3")
	for _, test := range []struct {
		o    catalog.Options
		want string
	}{
		{catalog.Options{}, "0:111 1:011 2:000 3:000 4:101 5:000 6:100 7:101 8:000 9:000 10:111 11:001 "},
		{catalog.Options{Sampler: "euler", Steps: 4, PlanOptions: catalog.PlanOptions{Finish: "leave"}}, "1:022 2:220 3:200 5:022 6:202 7:100 8:022 9:022 10:101 11:202 0:111 4:121 "},
		{catalog.Options{Sampler: "tweedie", Steps: 4, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, "0:101 1:011 4:011 5:010 6:100 7:101 8:000 9:011 2:010 3:000 10:111 11:001 "},
		{catalog.Options{Sampler: "tau-leaping", Steps: 4, PlanOptions: catalog.PlanOptions{Grid: "paper", Tau: "one"}}, "5:011 6:100 7:100 9:011 1:011 2:000 3:100 8:000 10:111 11:001 0:111 4:101 "},
		{catalog.Options{Sampler: "matu", Steps: 4}, "0:111 1:011 2:000 3:000 4:101 5:000 6:100 7:101 8:000 9:000 10:111 11:001 "},
		{catalog.Options{Sampler: "dmpm", Steps: 4}, "6:100 9:011 1:011 2:000 5:010 8:000 11:001 0:111 3:000 4:101 7:101 10:111 "},
		{catalog.Options{Sampler: "random-sizes", Steps: 2}, "0:111 1:011 2:000 3:000 4:111 5:011 6:100 7:100 8:000 9:011 10:111 11:001 "},
		{catalog.Options{Sampler: "random-sizes", Steps: 2, PlanOptions: catalog.PlanOptions{Correlation: "dual"}}, "0:111 1:011 2:010 3:100 4:011 5:010 6:100 7:101 8:000 9:000 10:111 11:001 "},
	} {
		var got string
		_, err := samplers.Sample(context.Background(), w, samplers.Copies(lawstest.AllMask(w), 0, 12), samplers.Config{Method: lawstest.NewFor(t, test.o, w.Spec()), Seed: 2026, Batch: 64}, func(r samplers.Result) error {
			got += fmt.Sprintf("%d:", r.Index)
			for _, id := range r.IDs {
				got += fmt.Sprint(id)
			}
			got += " "
			return nil
		})
		reftest.OK(t, err)
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.o, got, test.want)
		}
	}
}
