package plan_test

import (
	"math"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// TestTweedieIsFHSDiscretised checks that on a grid from λ = 1, with the same seed, Tweedie reveals
// each position in the step that contains its hitting time under FHS.
func TestTweedieIsFHSDiscretised(t *testing.T) {
	for _, grid := range []string{"lambda", "cos2", "cosine", "lambda:1,0.9,0.3,0.2,0"} {
		tweedie, fhs := lawstest.New(t, catalog.Options{Sampler: "ddpm", PlanOptions: catalog.PlanOptions{Grid: grid}}), lawstest.New(t, catalog.Options{})
		steps, _ := tweedie.Grid()
		free := lawstest.UpTo(50)
		var p, q plan.Plan
		lawstest.DrawPlan(t, tweedie, &p, 1, 2, free)
		lawstest.DrawPlan(t, fhs, &q, 1, 2, free)
		i := 0
		for _, b := range p.Blocks {
			if b.Lambda != steps.Grid.Lambda[b.Step] || b.Theta != steps.Grid.Theta[b.Step] {
				t.Errorf("%s: step %d is asked at %v, %v", grid, b.Step, b.Lambda, b.Theta)
			}
			for j, l := range b.Positions {
				hit := q.Blocks[i]
				i++
				if l != hit.Positions[0] || math.Abs(b.Hits[j]-hit.Lambda) > 1e-12 {
					t.Fatalf("%s: position %d at %v, FHS has %d at %v", grid, l, b.Hits[j], hit.Positions[0], hit.Lambda)
				}
				if hit.Lambda >= steps.Grid.Lambda[b.Step] || hit.Lambda < steps.Grid.Lambda[b.Step+1] {
					t.Errorf("%s: %v is not in step %d", grid, hit.Lambda, b.Step)
				}
			}
		}
		if i != 50 || len(p.Left) != 0 {
			t.Errorf("%s: %d of 50 positions revealed, %d left", grid, i, len(p.Left))
		}
	}
}

// TestLargeT checks that a grid is valid for large T, where λ rounds to 1, and that almost nothing
// happens there.
func TestLargeT(t *testing.T) {
	for _, sampler := range []string{"euler", "tweedie", "tau-leaping"} {
		s := lawstest.New(t, catalog.Options{Sampler: sampler, Steps: 60, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(60))}})
		steps, _ := s.Grid()
		if p := steps.Jump[0]; !(p > 0 && p < 1e-25) {
			t.Errorf("%s: the first step reveals with %v", sampler, p)
		}
		var p plan.Plan
		lawstest.DrawPlan(t, s, &p, 1, 1, lawstest.UpTo(100))
		if len(p.Blocks) == 0 || p.Blocks[0].Step < 30 {
			t.Errorf("%s: %d blocks, the first at step %d", sampler, len(p.Blocks), p.Blocks[0].Step)
		}
	}
}
