package bound

import (
	"context"
	"math"
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// byPlans works out bounds by plans of windows from..to: on −log P_FHS by the mean probability of
// paths of first-hitting, whose mean cost estimates the NELBO.
func (s *Study) byPlans(ctx context.Context, from, to int) (out []window, err error) {
	for i := from; i < to; i++ {
		t := &s.ts[i]
		if err := s.e.Check(*t); err != nil {
			return nil, err
		}
		costs, err := pathCosts(ctx, s.e, t, s.fhs, s.cfg.Plans, draw.NewStream(s.cfg.Seed^seedPlans, uint64(i)))
		if err != nil {
			return nil, err
		}
		mean, bound := planBound(costs)
		out = append(out, window{Free: len(t.Free), FHS: number(bound), NELBO: number(mean)})
	}
	return out, nil
}

// planBound returns the mean of the costs −log p of paths, and −log of the mean of p.
func planBound(costs []float64) (mean, bound float64) {
	least := slices.Min(costs)
	if math.IsInf(least, 1) {
		return least, least
	}
	var sum float64
	for _, c := range costs {
		mean += c / float64(len(costs))
		sum += math.Exp(least-c) / float64(len(costs))
	}
	return mean, least - math.Log(sum)
}

// pathCosts returns −log of the probabilities of k paths to a text.
func pathCosts(ctx context.Context, e *likelihood.Evaluator, t *likelihood.Target, s *catalog.Sampler, k int, stream *draw.Stream) ([]float64, error) {
	var asks []likelihood.Ask
	ends := make([]int, k)
	for j := range ends {
		var p plan.Plan
		if err := s.Plan(&p, stream, t.Free); err != nil {
			return nil, err
		}
		masked := slices.Clone(t.Free)
		for _, b := range p.Blocks {
			asks = append(asks, likelihood.Ask{Target: t, Masked: slices.Clone(masked), Wanted: slices.Clone(b.Positions), Lambda: b.Lambda, LogMu: make([]float64, len(b.Positions))})
			masked = slices.DeleteFunc(masked, func(l int) bool { return slices.Contains(b.Positions, l) })
		}
		ends[j] = len(asks)
	}
	if err := e.Eval(ctx, asks); err != nil {
		return nil, err
	}
	costs := make([]float64, k)
	from := 0
	for j, to := range ends {
		for _, a := range asks[from:to] {
			for _, v := range a.LogMu {
				costs[j] -= v
			}
		}
		from = to
	}
	return costs, nil
}
