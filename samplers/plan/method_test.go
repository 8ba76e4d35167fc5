package plan_test

import (
	"math"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// TestPlanRevealed checks that plans conditioned on leaving nothing reveal everything, each
// position in a step with probability w_k/(1−S_N), and that the returned probability is that of
// plans that leave nothing.
func TestPlanRevealed(t *testing.T) {
	free := []int{0, 2, 3}
	for _, o := range []catalog.Options{
		{Sampler: "euler", PlanOptions: catalog.PlanOptions{Grid: "theta:1.5,0.4,0.1"}}, {Sampler: "dmpm", PlanOptions: catalog.PlanOptions{Grid: "theta:1.5,0.4,0.1"}},
		{Sampler: "uniformization", PlanOptions: catalog.PlanOptions{Grid: "theta:1.5,0.4,0.1"}}, {Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "lambda:0.9,0.4,0.2"}},
	} {
		s := lawstest.NewFor(t, o, samplers.Spec{})
		steps, _ := s.Grid()
		m := lawstest.Method(t, s)
		const plans = 4000
		counts, none := make([]int, len(steps.Reveal)), 0
		st := draw.NewStream(5, 0)
		for range plans {
			var p plan.Plan
			logP, err := m.PlanRevealed(&p, st, free)
			if want := 3 * math.Log1p(-steps.Left()); err != nil || math.Abs(logP-want) > 1e-15 || len(p.Left) > 0 {
				t.Fatalf("%v: %d left, log P %v, want %v: %v", s, len(p.Left), logP, want, err)
			}
			for _, b := range p.Blocks {
				counts[b.Step] += len(b.Positions)
			}
			reftest.OK(t, m.Plan(&p, st, free))
			if len(p.Left) == 0 {
				none++
			}
		}
		for k, w := range steps.Reveal {
			p := w / (1 - steps.Left())
			if se := math.Sqrt(p * (1 - p) * 3 * plans); math.Abs(float64(counts[k])-p*3*plans) > 4*se {
				t.Errorf("%v: step %d reveals %d positions, want %v ± %v", s, k, counts[k], p*3*plans, se)
			}
		}
		p := math.Pow(1-steps.Left(), 3)
		if se := math.Sqrt(p * (1 - p) * plans); math.Abs(float64(none)-p*plans) > 4*se {
			t.Errorf("%v: %d plans leave nothing, want %v ± %v", s, none, p*plans, se)
		}
	}
	// Without a grid nothing is left in any case.
	m := lawstest.Method(t, lawstest.New(t, catalog.Options{}))
	var p, q plan.Plan
	logP, err := m.PlanRevealed(&p, draw.NewStream(1, 1), free)
	reftest.OK(t, m.Plan(&q, draw.NewStream(1, 1), free))
	if err != nil || logP != 0 || len(p.Blocks) != 3 || p.Blocks[0].Lambda != q.Blocks[0].Lambda {
		t.Errorf("fhs: log P %v, %d blocks: %v", logP, len(p.Blocks), err)
	}
}
