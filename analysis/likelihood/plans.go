package likelihood

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/subset"
)

// PathCosts returns −log of the probability of a text under each of k paths of a planned sampler.
func (e *Evaluator) PathCosts(ctx context.Context, t *Target, s *catalog.Sampler, k int, stream *draw.Stream) ([]float64, error) {
	var asks []Ask
	ends := make([]int, k)
	m, _ := s.Plan()
	for i := range ends {
		var p plan.Plan
		if err := m.Plan(&p, stream, t.Free); err != nil {
			return nil, err
		}
		asks = planAsks(asks, t, &p, false)
		ends[i] = len(asks)
	}
	if err := e.Eval(ctx, asks); err != nil {
		return nil, err
	}
	return costsOf(asks, ends), nil
}

// CostOfMean returns −log of the mean probability of paths, from their costs −log p.
func CostOfMean(costs []float64) float64 {
	logs := slices.Clone(costs)
	floats.Scale(-1, logs)
	return math.Log(float64(len(costs))) - subset.LogSum(logs)
}

// planAsks appends the rows of a plan's path to a given text: one for each block and, with finish,
// one for the positions that the plan leaves masked.
func planAsks(asks []Ask, t *Target, p *plan.Plan, finish bool) []Ask {
	masked := slices.Clone(t.Free)
	reveal := func(b plan.Block) {
		wanted := slices.Clone(b.Positions)
		asks = append(asks, Ask{
			Target: t, Masked: slices.Clone(masked), Wanted: wanted, Lambda: b.Lambda, LogMu: make([]float64, len(wanted)),
		})
		masked = slices.DeleteFunc(masked, func(l int) bool { return slices.Contains(wanted, l) })
	}
	for _, b := range p.Blocks {
		reveal(b)
	}
	if finish && len(p.Left) > 0 {
		reveal(plan.Block{Positions: p.Left, Lambda: p.LeftLambda})
	}
	return asks
}

// costsOf returns −log of the probability of each path; path i ends before asks[ends[i]].
func costsOf(asks []Ask, ends []int) []float64 {
	costs, from := make([]float64, len(ends)), 0
	for i, to := range ends {
		costs[i] = asksCost(asks[from:to])
		from = to
	}
	return costs
}

// asksCost returns −Σ log μ over the answers.
func asksCost(asks []Ask) float64 {
	var sum float64
	for _, a := range asks {
		for _, v := range a.LogMu {
			sum -= v
		}
	}
	return sum
}
