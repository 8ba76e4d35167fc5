package bound

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// onPlans is the report of bounds by plans: of windows of any length, and of networks that look at
// the time, too.
func (s *Study) onPlans() Report {
	ws, ts, cfg, cluster := s.long, s.ts[:len(s.long)], s.cfg, s.cluster
	if cluster != nil {
		cluster = cluster[:len(ws)]
	}
	out := newDraft("text")
	out.Head, out.Notes = cannotFail, textNotes(ts)
	value := func(f func(w longWindow) float64, bound string) report.Value {
		v := of(mean(each(ws, f), cluster, cfg.Confidence))
		v.Bound = bound
		return v
	}
	nelbo, upper := func(w longWindow) float64 { return w.mean }, func(w longWindow) float64 { return w.bound }
	gap := func(w longWindow) float64 { return minus(w.mean, w.bound) }
	gaps := each(ws, gap)
	out.estimated(report.Line{
		Name: "plans", Statement: fmt.Sprintf("the bound by %d plans on −log P_FHS is at most the NELBO; NELBO − bound is a lower bound on the gap of Theorem 4", cfg.Plans),
		Left: value(upper, "upper"), Right: value(nelbo, ""), Gap: value(gap, "lower"),
	}, oneSided, func(c float64) estimate.Estimate { return mean(gaps, cluster, c) })
	out.Plots = append(gapPlot("NELBO − K-plan bound of windows, a lower bound on the gap", gaps, mean(gaps, cluster, cfg.Confidence), cfg.Confidence), byPlans(ws, cluster, cfg))
	longCases(out, ts, ws, value, cfg)
	if cfg.Reference != nil {
		// −log P_FHS is known from above alone, and tells no bound on KL from below.
		cfg.Reference.lines(out, s.logp, nil, each(ws, nelbo), cfg.Confidence)
	}
	s.runs.lines(out, cfg)
	out.Notes = append(out.Notes,
		"The same orders serve both sides, so that their difference is never below 0 and varies little; the NELBO itself is an estimate. Exact values need windows of fewer free positions.",
		"The gap is ε″ − KL(q0‖P_FHS), and this is a lower bound on it in expectation.")
	if len(cfg.Cases) > 0 {
		out.Notes = append(out.Notes, "A bound by K plans falls with K, in expectation, to −log P; the difference of two such bounds bounds nothing.")
	}
	return out.finish()
}

// longWindow is what is known of one window.
type longWindow struct {
	// costs are −log of the probabilities of paths of first-hitting, mean their mean and bound −log of
	// the mean probability.
	costs       []float64
	mean, bound float64
	// upper are the bounds by plans of the cases, lower those from the other side.
	upper []float64
	lower []*likelihood.Lower
}

// keptLong is one as it is kept.
type keptLong struct {
	Costs []estimate.Number   `json:"costs"`
	Upper []estimate.Number   `json:"upper"`
	Lower []*likelihood.Lower `json:"lower"`
}

// MarshalJSON writes what does not follow from the rest.
func (w longWindow) MarshalJSON() ([]byte, error) {
	return json.Marshal(keptLong{numbers(w.costs), numbers(w.upper), w.lower})
}

// UnmarshalJSON reads what MarshalJSON wrote, bit for bit.
func (w *longWindow) UnmarshalJSON(b []byte) error {
	var k keptLong
	if err := json.Unmarshal(b, &k); err != nil || len(k.Costs) == 0 {
		return err
	}
	*w = longWindow{costs: floats(k.Costs), upper: floats(k.Upper), lower: k.Lower}
	w.mean, w.bound = planBound(w.costs)
	return nil
}

func longOne(ctx context.Context, e *likelihood.Evaluator, t *likelihood.Target, i int, fhs *catalog.Sampler, cfg Config) (longWindow, error) {
	if err := e.Check(*t); err != nil {
		return longWindow{}, err
	}
	var w longWindow
	var err error
	if w.costs, err = pathCosts(ctx, e, t, fhs, cfg.Plans, draw.NewStream(cfg.Seed^seedPlans, uint64(i))); err != nil {
		return w, err
	}
	w.mean, w.bound = planBound(w.costs)
	for _, c := range cfg.Cases {
		r, err := e.Estimate(ctx, []likelihood.Target{*t}, uint64(i), likelihood.Config{
			Form: likelihood.Plans, Draws: 1, Plans: cfg.Plans, Sampler: c.Sampler, Seed: cfg.Seed ^ seedPlans, Confidence: cfg.Confidence,
		})
		if err != nil {
			return w, fmt.Errorf("%s: %w", c, err)
		}
		w.upper, w.lower = append(w.upper, r[0].Nats.Mean), append(w.lower, r[0].Lower)
	}
	return w, nil
}

// longCases adds the bounds of the cases, and a picture against N.
func longCases(out *draft, ts []likelihood.Target, ws []longWindow, value func(func(longWindow) float64, string) report.Value, cfg Config) {
	plot := report.Plot{Name: "nll", Title: fmt.Sprintf("Bound by %d plans on −log P of a window", cfg.Plans), X: "expected calls a window", Y: "nats", LogX: true, Bars: report.Intervals(cfg.Confidence, "windows"),
		Caption: "The difference of two bounds bounds nothing."}
	free := make([]float64, len(ws))
	for i := range ws {
		free[i] = float64(len(ts[i].Free))
	}
	fhs := value(func(w longWindow) float64 { return w.bound }, "upper")
	var refused []string
	why := ""
	for i, c := range cfg.Cases {
		upper := value(func(w longWindow) float64 { return w.upper[i] }, "upper")
		out.add(report.Line{
			Name: "plans " + c.String(), Statement: fmt.Sprintf("bounds by %d plans on E[−log P_FHS] and on E[−log P_N], the line's sampler and N", cfg.Plans),
			Left: fhs, Right: upper, Gap: unknown(),
		})
		plot.Add(c.Name, "", report.At(calls(c, free), upper.Estimate))
		without, reason := 0, ""
		for _, w := range ws {
			if w.lower[i] == nil || w.lower[i].Estimate == nil {
				without++
				if w.lower[i] != nil && reason == "" {
					reason = strings.TrimPrefix(w.lower[i].Reason, "no lower side: ")
				}
			}
		}
		if without > 0 {
			if refused = append(refused, c.String()); why == "" {
				why = fmt.Sprintf("in %d of %d windows of %s, %s", without, len(ws), c, reason)
			}
			continue
		}
		lower := value(func(w longWindow) float64 { return w.lower[i].Estimate.Mean }, "lower")
		out.add(report.Line{
			Name: "sides " + c.String(), Statement: "E[1 − log ψ − p̂/ψ] ≤ −log P_N ≤ the bound by plans in expectation, ψ the mean path probability of half the plans, which p̂ does not share",
			Left: lower, Right: upper, Gap: value(func(w longWindow) float64 { return w.upper[i] - w.lower[i].Estimate.Mean }, ""),
		})
	}
	if len(refused) > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("No lower side for %s: %s.", strings.Join(refused, ", "), why))
	}
	if len(cfg.Cases) > 0 {
		plot.Add("fhs", "", report.At(mean(free, nil, 0).Mean, fhs.Estimate))
	}
	out.Plots = append(out.Plots, report.Shown(plot)...)
}

// byPlans is the bound on first-hitting by 1, 2, 4, … of the plans, as far as these divide
// their number, and by all of them: the mean over groups of so many. Groups share their
// paths with the larger ones, and so the bound falls in every window.
func byPlans(ws []longWindow, cluster []int, cfg Config) report.Plot {
	p := report.Plot{Name: "plans", Title: "Bound on −log P_FHS by the number of plans", X: "K", Y: "nats", LogX: true, Bars: report.Intervals(cfg.Confidence, "windows"),
		Caption: "In expectation the bound falls from the NELBO, one plan, to −log P_FHS."}
	sizes := []int{1}
	for k := 2; k < cfg.Plans && cfg.Plans%k == 0; k *= 2 {
		sizes = append(sizes, k)
	}
	for _, k := range append(sizes, cfg.Plans) {
		v := mean(each(ws, func(w longWindow) float64 {
			var sum float64
			groups := len(w.costs) / k
			for g := range groups {
				_, bound := planBound(w.costs[g*k : (g+1)*k])
				sum += bound / float64(groups)
			}
			return sum
		}), cluster, cfg.Confidence)
		p.Add("fhs", "", report.At(float64(k), v))
	}
	return p
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
