package quality

import (
	"context"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// twoSeed separates the streams of these texts and paths from others.
const twoSeed = 0x74776f206c617773 // "two laws"

// Apart holds the distances of two laws, in nats a token.
type Apart struct {
	// FromCausal estimates KL(causal‖sampler), and ToCausal KL(sampler‖causal). If −log P of the sampler
	// is not Exact the first is above it in expectation, and the second below.
	FromCausal, ToCausal estimate.Estimate
	Exact                bool
}

// TwoLaws draws the free positions of texts t by the causal law of a network that has two laws and by that of
// a sampler in blocks, cfg.Samples each, and estimates both distances from exact costs of the causal law, and
// exact ones of s, which draws tokens as the evaluator does, or bounds by paths in each block. It takes no
// reference model.
func TwoLaws(ctx context.Context, e *likelihood.Evaluator, t likelihood.Target, s *catalog.Sampler, paths int, cfg Config) (out Apart, err error) {
	if samplers.Is[samplers.ByCausal](s.Law()) {
		return out, fault.Errorf("quality", "%s has the causal law itself", s)
	}
	causal, err := catalog.New(catalog.Options{Sampler: "causal", Draw: e.Draw()}, e.Facts().Spec())
	if err != nil {
		return out, err
	}
	if out.Exact = e.Fits(len(t.Free), s) == nil; out.Exact {
		paths = 0
	}
	// between estimates KL(from‖other) from texts of from. sign is that of the costs of s.
	between := func(from *catalog.Sampler, seed uint64, sign float64) (estimate.Estimate, error) {
		texts, _, err := e.Sample(ctx, t, from, seed, 0, cfg.Samples)
		if err != nil {
			return estimate.Estimate{}, err
		}
		targets, terms := make([]likelihood.Target, len(texts)), make([]float64, len(texts))
		for i, ids := range texts {
			targets[i] = likelihood.Target{IDs: ids, Free: t.Free}
		}
		own, err := e.Costs(ctx, targets, causal, 0, 0)
		if err != nil {
			return estimate.Estimate{}, err
		}
		costs, err := e.Costs(ctx, targets, s, paths, seed)
		for i := range costs {
			terms[i] = sign * (costs[i] - own[i]) / float64(len(t.Free))
		}
		return estimate.Mean(terms, cfg.Confidence), err
	}
	if out.FromCausal, err = between(causal, cfg.Seed^twoSeed, 1); err == nil {
		out.ToCausal, err = between(s, cfg.Seed^twoSeed+1, -1)
	}
	return out, err
}
