package samplers_test

import (
	"math"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// TestInfiniteT checks that the linear noise reaches T = ∞ at t = 1, and the exp noise never does.
func TestInfiniteT(t *testing.T) {
	inf := math.Inf(1)
	reftest.OK(t, reftest.Err(catalog.New(catalog.Options{Sampler: "euler", Steps: 4, PlanOptions: catalog.PlanOptions{Noise: "linear", T: (*catalog.Theta)(&inf)}}, samplers.Spec{})), "euler, linear noise")
	reftest.Fails(t, reftest.Err(catalog.New(catalog.Options{Sampler: "euler", Steps: 4, PlanOptions: catalog.PlanOptions{T: (*catalog.Theta)(&inf)}}, samplers.Spec{})), "", "euler, exp noise: an infinite T was accepted")
	reftest.Fails(t, reftest.Err(catalog.New(catalog.Options{Sampler: "tau-leaping", PlanOptions: catalog.PlanOptions{Grid: "theta:inf,1,0.1"}}, samplers.Spec{})), "", "tau-leaping on a list: an infinite T was accepted")
	timed := samplers.Spec{TimeConditioned: true}
	reftest.Fails(t, reftest.Err(catalog.New(catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "lambda", T: (*catalog.Theta)(&inf)}}, timed)), "finite T", "time-conditioned")
	timed.InfiniteSigma = true
	reftest.OK(t, reftest.Err(catalog.New(catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "lambda", T: (*catalog.Theta)(&inf)}}, timed)), "time-conditioned with rows at infinity")
}

// TestLargeT checks that a grid is valid for large T, where λ rounds to 1, and that almost nothing
// happens there.
func TestLargeT(t *testing.T) {
	for _, sampler := range []string{"euler", "tweedie", "tau-leaping"} {
		T := 60.0
		s := mustNew(t, catalog.Options{Sampler: sampler, Steps: 60, PlanOptions: catalog.PlanOptions{T: (*catalog.Theta)(&T)}})
		steps, _ := s.Grid()
		if p := steps.Jump[0]; !(p > 0 && p < 1e-25) {
			t.Errorf("%s: the first step reveals with %v", sampler, p)
		}
		var p plan.Plan
		drawPlan(t, s, &p, 1, 1, upTo(100))
		if len(p.Blocks) == 0 || p.Blocks[0].Step < 30 {
			t.Errorf("%s: %d blocks, the first at step %d", sampler, len(p.Blocks), p.Blocks[0].Step)
		}
	}
}
