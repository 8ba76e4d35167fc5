package bound

import (
	"context"

	"gonum.org/v1/gonum/stat"

	"mdmgen/analysis/likelihood"
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
		out = append(out, window{Free: len(t.Free), FHS: number(likelihood.CostOfMean(costs)), NELBO: number(stat.Mean(costs, nil))})
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
