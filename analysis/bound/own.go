package bound

import (
	"context"
	"fmt"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/internal/fault"
)

// Own encloses the entropy of the first-hitting sampler's own law from both sides, at any
// length: on its own samples −log of the mean path probability of K fresh plans is an upper
// bound of −log P_FHS in expectation, and with the plan that generated the sample among the
// K it is a lower one. t names the canvas: its free positions are drawn, the others are given.
// cfg.Draws samples take d rows to draw and (K+1)·d more each. When ctx ends, the report is
// about the samples that were done.
func Own(ctx context.Context, e *likelihood.Evaluator, t likelihood.Target, cfg Config) (Report, error) {
	if cfg.Draws < 1 || cfg.Plans < 2 {
		return Report{}, fault.Errorf("bound", "%d samples, %d plans: must be at least 1 and 2", cfg.Draws, cfg.Plans)
	}
	b, ended := e.Bracket(ctx, t, cfg.Draws, cfg.Plans, cfg.Seed, cfg.Confidence, cfg.Done)
	if ended != nil && (len(b.Paths) == 0 || ctx.Err() == nil) {
		return Report{}, ended
	}
	out := newDraft("own")
	side := func(x []float64, bound string) report.Value {
		v := of(mean(x, nil, cfg.Confidence))
		v.Bound = bound
		return v
	}
	plot := report.Plot{Name: "bracket", Title: "Both sides of the entropy of P_FHS by the number of plans", X: "K", Y: "nats", LogX: true, Bars: report.Intervals(cfg.Confidence, "samples"),
		Caption: "In expectation the curves enclose the entropy and come together as K grows; each point has the same samples."}
	for k := 1; k <= cfg.Plans; k *= 2 {
		lower, upper := b.Sides(k)
		plot.Add("with the plan that generated the sample", "", report.At(float64(k), side(lower, "lower").Estimate))
		plot.Add("fresh plans", "", report.At(float64(k), side(upper, "upper").Estimate))
	}
	lower, upper := b.Sides(cfg.Plans)
	gaps := differences(upper, lower)
	d := float64(len(t.Free))
	perToken := func(x []float64) []float64 {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = x[i] / d
		}
		return y
	}
	out.estimated(report.Line{
		Name: "bracket", Statement: fmt.Sprintf("E[−log p̂_K], K = %d plans with the one that generated the sample, ≤ H(P_FHS) ≤ E[−log p̂_K] by fresh plans: the entropy of the model's own law lies between", cfg.Plans),
		Left: side(lower, "lower"), Right: side(upper, "upper"), Gap: side(gaps, ""),
	}, oneSided, func(c float64) estimate.Estimate { return mean(gaps, nil, c) })
	out.add(report.Line{
		Name: "bracket.token", Statement: "the same a token", Unit: "nats per token",
		Left: side(perToken(lower), "lower"), Right: side(perToken(upper), "upper"), Gap: side(perToken(gaps), ""),
	})
	own, fresh := b.Sides(1)
	out.add(report.Line{
		Name: "nelbo.own", Statement: "E[NELBO] of the samples by one fresh plan beside the cost of the plan that generated them",
		Left: side(own, "lower"), Right: side(fresh, "upper"), Gap: of(mean(differences(fresh, own), nil, cfg.Confidence)),
	})
	out.Plots = append(out.Plots, plot)
	out.Notes = append(out.Notes,
		"Samples are first-hitting's own, at temperature 1 and nothing truncated. This is about the model's law alone, and says nothing of a text.",
		"Each side is a bound in expectation; the intervals are those of the samples. The distance between the sides is what K plans leave open, and falls as K grows.")
	return out.finish(), ended
}

func differences(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = minus(a[i], b[i])
	}
	return out
}
