package bound

import (
	"context"
	"math"
	"slices"

	"mdmgen/samplers/draw"
)

// byPlans computes bounds of windows from..to by plans: on −log P_FHS from the mean probability of
// first-hitting paths. Their mean cost estimates the NELBO.
func (s *Study) byPlans(ctx context.Context, from, to int) (out []window, err error) {
	for i := from; i < to; i++ {
		t := &s.ts[i]
		if err := s.e.Check(*t); err != nil {
			return nil, err
		}
		costs, err := s.e.PathCosts(ctx, t, s.fhs, s.cfg.Plans, draw.NewStream(s.cfg.Seed^seedPlans, uint64(i)))
		if err != nil {
			return nil, err
		}
		mean, bound := planBound(costs)
		out = append(out, window{Free: len(t.Free), FHS: number(bound), NELBO: number(mean)})
	}
	if s.e.Facts().TimeConditioned {
		entropies, err := s.e.ScoreEntropies(ctx, s.ts[from:to], uint64(from), s.cfg.Plans, s.cfg.Seed^seedScores)
		if err != nil {
			return nil, err
		}
		for i, x := range entropies {
			out[i].ScoreEntropy = number(x)
		}
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
