package bound

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// longWindow is a window with bounds by plans.
type longWindow struct {
	// Costs are −log of the probabilities of paths of first-hitting.
	Costs []number `json:"costs"`
	// Upper are the bounds by plans of the cases, Lower those from the other side.
	Upper []number            `json:"upper"`
	Lower []*likelihood.Lower `json:"lower"`
}

// nelbo estimates the NELBO, by the mean cost of the plans.
func (w longWindow) nelbo() float64 {
	mean, _ := planBound(floats(w.Costs))
	return mean
}

// bound is −log of the mean probability of the plans.
func (w longWindow) bound() float64 {
	_, bound := planBound(floats(w.Costs))
	return bound
}

// onPlans is the report of bounds by plans: of windows of any length, of time-conditioned
// networks too.
func (s *Study) onPlans() Report {
	ws, cfg := s.long, s.cfg
	out := s.newText(s.ts[:len(ws)])
	bounds, nelbo := each(ws, longWindow.bound), each(ws, longWindow.nelbo)
	gaps := differences(nelbo, bounds)
	line := out.line("plans", fmt.Sprintf("the bound by %d plans on −log P_FHS is at most the NELBO; NELBO − bound is a lower bound on the gap of Theorem 4", cfg.Plans), bounds, nelbo, gaps)
	line.Left.Bound, line.Gap.Bound = "upper", "lower"
	out.estimated(line, oneSided(0), out.sampled(gaps))
	out.plot(gapPlot("NELBO − K-plan bound of windows, a lower bound on the gap", gaps, out.of(gaps).Estimate, cfg.Confidence))
	longCases(out, ws, line.Left, cfg)
	if cfg.Reference != nil {
		// −log P_FHS is known from above alone, and gives no bound on KL from below.
		cfg.Reference.lines(out.draft, s.logp, nil, nelbo)
	}
	s.runs.lines(out.draft, cfg.Cases, nil)
	out.note("The same orders serve both sides, so that their difference is never below 0 and varies little; the NELBO itself is an estimate. Exact values need windows of fewer free positions.",
		"The gap is ε″ − KL(q0‖P_FHS), and this is a lower bound on it in expectation.")
	if len(cfg.Cases) > 0 {
		out.note("A bound by K plans falls with K, in expectation, to −log P; the difference of two such bounds bounds nothing.")
	}
	return out.finish()
}

func longOne(ctx context.Context, e *likelihood.Evaluator, t *likelihood.Target, i int, fhs *samplers.Sampler, cfg Config) (longWindow, error) {
	if err := e.Check(*t); err != nil {
		return longWindow{}, err
	}
	costs, err := pathCosts(ctx, e, t, fhs, cfg.Plans, draw.NewStream(cfg.Seed^seedPlans, uint64(i)))
	if err != nil {
		return longWindow{}, err
	}
	w := longWindow{Costs: numbers(costs)}
	for _, c := range cfg.Cases {
		r, err := e.Estimate(ctx, []likelihood.Target{*t}, uint64(i), likelihood.Config{
			Form: likelihood.Plans, Draws: 1, Plans: cfg.Plans, Sampler: c.Sampler, Seed: cfg.Seed ^ seedPlans, Confidence: cfg.Confidence,
		})
		if err != nil {
			return w, fmt.Errorf("%s: %w", c, err)
		}
		w.Upper, w.Lower = append(w.Upper, number(r[0].Nats.Mean)), append(w.Lower, r[0].Lower)
	}
	return w, nil
}

// longCases adds the bounds of the cases.
func longCases(out means, ws []longWindow, fhs report.Value, cfg Config) {
	var refused []string
	why := ""
	for i, c := range cfg.Cases {
		upper := each(ws, func(w longWindow) float64 { return float64(w.Upper[i]) })
		out.add(report.Line{
			Name: "plans " + c.String(), Statement: fmt.Sprintf("bounds by %d plans on E[−log P_FHS] and on E[−log P_N], the line's sampler and N", cfg.Plans),
			Left: fhs, Right: out.bound(upper, "upper"), Gap: unknown(),
		})
		without := slices.DeleteFunc(slices.Clone(ws), func(w longWindow) bool { return w.Lower[i] != nil && w.Lower[i].Estimate != nil })
		if len(without) > 0 {
			if refused = append(refused, c.String()); why == "" && without[0].Lower[i] != nil {
				why = fmt.Sprintf("in %d of %d windows of %s, %s", len(without), len(ws), c, strings.TrimPrefix(without[0].Lower[i].Reason, "no lower side: "))
			}
			continue
		}
		lower := each(ws, func(w longWindow) float64 { return w.Lower[i].Estimate.Mean })
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
func pathCosts(ctx context.Context, e *likelihood.Evaluator, t *likelihood.Target, s *samplers.Sampler, k int, stream *draw.Stream) ([]float64, error) {
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
