package bound

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// byPlans works out bounds by plans of windows from..to: on −log P_FHS by the mean probability of
// paths of first-hitting, whose mean cost estimates the NELBO, and on the cases.
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
		w := window{Free: len(t.Free), FHS: number(bound), NELBO: number(mean)}
		for _, c := range s.cfg.Cases {
			r, err := s.e.Estimate(ctx, []likelihood.Target{*t}, uint64(i), likelihood.Config{
				Form: likelihood.Plans, Draws: 1, Plans: s.cfg.Plans, Sampler: c.Sampler, Seed: s.cfg.Seed ^ seedPlans, Confidence: s.cfg.Confidence,
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c, err)
			}
			w.Cases, w.Lower = append(w.Cases, number(r[0].Nats.Mean)), append(w.Lower, r[0].Lower)
		}
		out = append(out, w)
	}
	return out, nil
}

// longCases adds the bounds of the cases.
func longCases(out means, ws []window, cfg Config) {
	fhs := out.bound(each(ws, window.fhs), "upper")
	var refused []string
	why := ""
	for i, c := range cfg.Cases {
		upper := each(ws, func(w window) float64 { return w.cost(i) })
		out.add(report.Line{
			Name: "plans " + c.String(), Statement: fmt.Sprintf("bounds by %d plans on E[−log P_FHS] and on E[−log P_N], the line's sampler and N", cfg.Plans),
			Left: fhs, Right: out.bound(upper, "upper"), Gap: unknown(),
		})
		without := slices.DeleteFunc(slices.Clone(ws), func(w window) bool { return w.Lower[i] != nil && w.Lower[i].Estimate != nil })
		if len(without) > 0 {
			if refused = append(refused, c.String()); why == "" && without[0].Lower[i] != nil {
				why = fmt.Sprintf("in %d of %d windows of %s, %s", len(without), len(ws), c, strings.TrimPrefix(without[0].Lower[i].Reason, "no lower side: "))
			}
			continue
		}
		lower := each(ws, func(w window) float64 { return w.Lower[i].Estimate.Mean })
		line := out.line("sides "+c.String(), "E[1 − log ψ − p̂/ψ] ≤ −log P_N ≤ the bound by plans in expectation, ψ the mean path probability of half the plans, which p̂ does not share",
			lower, upper, differences(upper, lower))
		line.Left.Bound, line.Right.Bound = "lower", "upper"
	}
	if len(refused) > 0 {
		out.note(fmt.Sprintf("No lower side for %s: %s.", strings.Join(refused, ", "), why))
	}
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
