package bound

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/samplers"
)

// Long bounds Theorem 4's gap from below on windows of any length: K orders of
// first-hitting a window have costs −log p, whose mean is an unbiased estimate of the
// NELBO, and −log of the mean p is an upper bound on −log P_FHS in expectation. Their
// difference is a lower bound on the gap in expectation, larger with more plans. A window
// takes K·d network rows; the network may be time-conditioned.
func Long(ctx context.Context, e *likelihood.Evaluator, ts []likelihood.Target, cluster []int, cfg Config) (Report, error) {
	if len(ts) == 0 || cfg.Plans < 2 {
		return Report{}, fmt.Errorf("bound: %d windows, %d plans: must be at least 1 and 2", len(ts), cfg.Plans)
	}
	f := e.Facts()
	fhs, err := samplers.New(samplers.Options{}, samplers.Conditions{Noise: f.Noise, TimeConditioned: f.TimeConditioned})
	if err != nil {
		return Report{}, err
	}
	means, bounds := make([]float64, len(ts)), make([]float64, len(ts))
	for i := range ts {
		if err := e.Check(ts[i]); err != nil {
			return Report{}, err
		}
		costs, err := pathCosts(ctx, e, &ts[i], fhs, cfg.Plans, samplers.NewStream(cfg.Seed^seedPlans, uint64(i)))
		if err != nil {
			return Report{}, err
		}
		means[i], bounds[i] = planBound(costs)
		if cfg.Done != nil {
			cfg.Done(1)
		}
	}
	gaps := make([]float64, len(ts))
	for i := range gaps {
		gaps[i] = means[i] - bounds[i]
	}
	out := newDraft("text")
	value := func(x []float64, bound string) Value {
		v := of(mean(x, cluster, cfg.Confidence))
		v.Bound = bound
		return v
	}
	out.estimated(Line{
		Name: "plans", Statement: fmt.Sprintf("the bound by %d plans on −log P_FHS is at most the NELBO; NELBO − bound is a lower bound on the gap of Theorem 4", cfg.Plans),
		Left: value(bounds, "upper"), Right: value(means, ""), Gap: value(gaps, "lower"),
	}, oneSided, func(c float64) estimate.Estimate { return mean(gaps, cluster, c) })
	plot := Plot{Name: "gap", Title: "NELBO − K-plan bound by window, a lower bound on the gap", X: "window", Y: "nats", Series: []Series{{Name: "gap"}}}
	for i, g := range gaps {
		addTo(&plot.Series[0], Point{X: float64(i), Y: g})
	}
	out.Plots = append(out.Plots, plot)
	out.Notes = append(out.Notes,
		"The same orders serve both sides, so that their difference is never below 0 and varies little; the NELBO itself is an estimate. Exact values need windows of fewer free positions.",
		"The entropy H(q0) of the text is not known and cancels: the gap is ε″ − KL(q0‖P_FHS), and this is a lower bound on it in expectation.")
	return out.finish(), nil
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
func pathCosts(ctx context.Context, e *likelihood.Evaluator, t *likelihood.Target, s *samplers.Sampler, k int, stream *samplers.Stream) ([]float64, error) {
	var asks []likelihood.Ask
	ends := make([]int, k)
	for j := range ends {
		var p samplers.Plan
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
