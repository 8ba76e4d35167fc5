package bound

import (
	"context"
	"fmt"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
)

// Causal takes the causal law of a network with two laws as the data's distribution: the distances of the
// samplers in blocks from it are those of the network from itself, and need no other. t gives the canvas; each
// case takes cfg.Draws texts of both laws, and cfg.Plans paths in each block where it has no exact law.
func Causal(ctx context.Context, e *likelihood.Evaluator, t likelihood.Target, cfg Config) (Report, error) {
	out := newDraft("causal", cfg.Confidence)
	byPaths := false
	plot := report.Plot{Name: "kl", Title: "KL of samplers in blocks from the causal law, one way and the other", X: "N", Y: "nats a token", LogX: true, LogY: true, Bars: report.Intervals(cfg.Confidence, "texts")}
	for _, c := range cfg.Cases {
		got, err := quality.TwoLaws(ctx, e, t, c.Sampler, cfg.Plans, quality.Config{Samples: cfg.Draws, Seed: cfg.Seed, Confidence: cfg.Confidence})
		if err != nil {
			return out.finish(), err
		}
		line := out.add(report.Line{
			Name: "kl_causal " + c.String(), About: c.String(), Statement: "KL(q0‖P_N) beside KL(P_N‖q0), q0 the network's causal law", Unit: "nats/token",
			Left: of(got.FromCausal), Right: of(got.ToCausal), Gap: unknown(),
		})
		plot.Add(c.Name, "", report.At(float64(c.N), line.Left.Estimate))
		plot.Add(c.Name+", from its texts", "", report.At(float64(c.N), line.Right.Estimate))
		if !got.Exact {
			byPaths, line.Left.Bound, line.Right.Bound = true, "upper", "lower"
		}
		if cfg.Done != nil {
			cfg.Done(1)
		}
	}
	out.plot(plot)
	out.note("q0 is the network's own causal law, from one call a text; what the samplers lose to it is the price of filling several positions at once, on the network's own texts.")
	if byPaths {
		out.note(fmt.Sprintf("Where −log P_N is not exact it is bounded by %d paths in each block: KL(q0‖P_N) then from above and KL(P_N‖q0) from below, in expectation.", cfg.Plans))
	}
	return out.finish(), nil
}
