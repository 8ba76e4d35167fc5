package laws_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/samplers"
)

// TestProfile: its sums are the NELBO, and the best schedules are those of a search.
func TestProfile(t *testing.T) {
	worlds(func(name string, w *laws.World) {
		c, nelbo := w.Profile(), w.NELBO().Expected
		if !near(total(c), nelbo, 1e-11) || !near(w.LossIntegral(), nelbo, 1e-11) {
			t.Errorf("%s: Σc is %v, d∫f %v, the NELBO %v", name, total(c), w.LossIntegral(), nelbo)
		}
		for _, lambda := range []float64{0, 0.3, 1} {
			if got := w.Loss(lambda); !w.Timed() && !near(got, samplers.LossCurve(c, lambda), 1e-12) {
				t.Errorf("%s: f(%v) is %v, of the profile %v", name, lambda, got, samplers.LossCurve(c, lambda))
			}
		}
		lambda := laws.BestLattice(w.Loss, 3, 12)
		best := math.Inf(1)
		for i := 1; i < 12; i++ {
			for j := i + 1; j < 12; j++ {
				at := []float64{1, 1 - float64(i)/12, 1 - float64(j)/12, 0}
				best = min(best, laws.LatticeCost(w.D, w.Loss, at))
			}
		}
		if got := laws.LatticeCost(w.D, w.Loss, lambda); !near(got, best, 1e-12) {
			t.Errorf("%s: the grid %v costs %v, the best %v", name, lambda, got, best)
		}
		run := w.Run(steps(t, samplers.RuleTweedie, samplers.GridSpec{Kind: samplers.GridLambdaList, List: lambda}))
		if !near(run.PlanNELBO, best, 1e-12) {
			t.Errorf("%s: the plan's NELBO is %v, the grid's cost %v", name, run.PlanNELBO, best)
		}
	})
	r := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		c := make([]float64, 1+r.IntN(7))
		for j := range c {
			c[j] = r.Float64()
		}
		for n := 1; n <= len(c); n++ {
			sizes := laws.BestSizes(c, n)
			best := math.Inf(1)
			compositions(len(c), n, nil, func(sizes []int) { best = min(best, samplers.SizesCost(c, sizes)) })
			if got := samplers.SizesCost(c, sizes); len(sizes) != n || !near(got, best, 1e-14) {
				t.Errorf("c = %v: %d sizes %v cost %v, the best %v", c, n, sizes, got, best)
			}
			falling := samplers.Monotone(c, nil)
			_, least := samplers.BestSizes(falling, n)
			if got := samplers.SizesCost(falling, laws.BestSizes(falling, n)); !near(got, least, 1e-14) {
				t.Errorf("c = %v: %d sizes cost %v, package samplers finds %v", falling, n, got, least)
			}
		}
		falling := samplers.Monotone(c, nil)
		f := func(lambda float64) float64 { return samplers.LossCurve(falling, lambda) }
		_, least := samplers.BestGrid(falling, 3)
		if got := laws.LatticeCost(len(c), f, laws.BestLattice(f, 3, 400)); !near(got, least, 1e-13) {
			t.Errorf("c = %v: a grid costs %v, package samplers finds %v", falling, got, least)
		}
	}
	if laws.BestSizes([]float64{1}, 2) != nil || laws.BestLattice(math.Sqrt, 5, 4) != nil {
		t.Error("more parts than there is room for")
	}
}

// compositions calls do for the ways to write d as n sizes.
func compositions(d, n int, head []int, do func([]int)) {
	if n == 1 {
		do(append(head[:len(head):len(head)], d))
		return
	}
	for k := 1; k <= d-n+1; k++ {
		compositions(d-k, n-1, append(head[:len(head):len(head)], k), do)
	}
}
