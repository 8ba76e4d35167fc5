package bound

import (
	"context"
	"fmt"

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
	out := newDraft("own", cfg.Confidence).over(nil)
	plot := report.Plot{Name: "bracket", Title: "Both sides of the entropy of P_FHS by the number of plans", X: "K", Y: "nats", LogX: true, Bars: report.Intervals(cfg.Confidence, "samples"),
		Caption: "In expectation the curves enclose the entropy and come together as K grows; each point has the same samples."}
	for k := 1; k <= cfg.Plans; k *= 2 {
		lower, upper := b.Sides(k)
		plot.Add("with the plan that generated the sample", "", report.At(float64(k), out.of(lower).Estimate))
		plot.Add("fresh plans", "", report.At(float64(k), out.of(upper).Estimate))
	}
	sides := func(name, statement string, lower, upper []float64) *report.Line {
		line := out.line(name, statement, lower, upper, differences(upper, lower))
		line.Left.Bound, line.Right.Bound = "lower", "upper"
		return line
	}
	lower, upper := b.Sides(cfg.Plans)
	gaps := differences(upper, lower)
	line := sides("bracket", fmt.Sprintf("E[−log p̂_K], K = %d plans with the one that generated the sample, ≤ H(P_FHS) ≤ E[−log p̂_K] by fresh plans: the entropy of the model's own law lies between", cfg.Plans), lower, upper)
	out.estimated(line, oneSided(0), out.sampled(gaps))
	perToken := func(x []float64) []float64 {
		return each(x, func(v float64) float64 { return v / float64(len(t.Free)) })
	}
	line = sides("bracket.token", "the same a token", perToken(lower), perToken(upper))
	line.Unit, line.Gap = "nats per token", out.of(perToken(gaps))
	own, fresh := b.Sides(1)
	sides("nelbo.own", "E[NELBO] of the samples by one fresh plan beside the cost of the plan that generated them", own, fresh)
	out.plot(plot)
	out.note("Samples are first-hitting's own, at temperature 1 and nothing truncated. This is about the model's law alone, and says nothing of a text.",
		"Each side is a bound in expectation; the intervals are those of the samples. The distance between the sides is what K plans leave open, and falls as K grows.")
	return out.finish(), ended
}
