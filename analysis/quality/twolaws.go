package quality

import (
	"context"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TwoLaws configures distances between the causal law of a network that has two laws and the law of a
// sampler in blocks, on texts of either.
type TwoLaws struct {
	// Texts is the number of texts of each law.
	Texts int
	// Paths is the number of paths in each block that bound −log P where it is not exact.
	Paths      int
	Seed       uint64
	Confidence float64
}

// twoSeed separates the streams of these texts and paths from others.
const twoSeed = 0x74776f206c617773 // "two laws"

// Apart holds the terms of the distances, in nats, one for each text.
type Apart struct {
	// Causal are −log P of the sampler minus that of the causal law on texts of the causal law, whose mean
	// is KL(causal‖sampler). Sampler are the negatives on texts of the sampler, KL(sampler‖causal).
	Causal, Sampler []float64
	// Exact reports whether −log P of the sampler is exact. Otherwise the first mean is above KL in
	// expectation and the second below it.
	Exact bool
	// Tokens is the number of free positions of a text.
	Tokens int
}

// PerToken estimates the mean of terms for each token, in nats.
func (a Apart) PerToken(terms []float64, confidence float64) estimate.Estimate {
	per := make([]float64, len(terms))
	for i, x := range terms {
		per[i] = x / float64(a.Tokens)
	}
	return estimate.Mean(per, confidence)
}

// Causally returns an error if the distance of a sampler from the causal law cannot be computed on an
// evaluator's network.
func Causally(e *likelihood.Evaluator, s *catalog.Sampler, free int) error {
	switch _, causal := s.Law().(samplers.ByCausal); {
	case !e.Facts().Causal:
		return fault.Errorf("quality", "the network has no causal rows beside those of blocks")
	case causal:
		return fault.Errorf("quality", "%s has the causal law itself", s)
	case e.Fits(free, s) == nil:
		return nil
	}
	return e.Bounds(s)
}

// Measure draws the free positions of t by both laws and computes the terms of both distances. Neither
// takes a reference model. s draws tokens as the evaluator does.
func (c TwoLaws) Measure(ctx context.Context, e *likelihood.Evaluator, t likelihood.Target, s *catalog.Sampler) (out Apart, err error) {
	if err := Causally(e, s, len(t.Free)); err != nil {
		return out, err
	}
	out.Exact, out.Tokens = e.Fits(len(t.Free), s) == nil, len(t.Free)
	causal, err := catalog.New(catalog.Options{Sampler: "causal", Draw: e.Draw()}, e.Facts().Spec())
	if err != nil {
		return out, err
	}
	for i, from := range []*catalog.Sampler{causal, s} {
		texts, _, err := e.Sample(ctx, t, from, c.Seed^twoSeed, 0, c.Texts)
		if err != nil {
			return out, err
		}
		targets := make([]likelihood.Target, len(texts))
		for k, ids := range texts {
			targets[k] = likelihood.Target{IDs: ids, Free: t.Free}
		}
		exact, err := e.Values(ctx, targets, causal)
		if err != nil {
			return out, err
		}
		costs, err := c.costs(ctx, e, targets, s, out.Exact, uint64(i))
		if err != nil {
			return out, err
		}
		for k := range costs {
			costs[k] -= exact[k].Sampler.NegLog
		}
		if i == 0 {
			out.Causal = costs
			continue
		}
		for _, x := range costs {
			out.Sampler = append(out.Sampler, -x)
		}
	}
	return out, nil
}

// costs returns −log P of texts under the sampler, or bounds from streams that begin at first.
func (c TwoLaws) costs(ctx context.Context, e *likelihood.Evaluator, ts []likelihood.Target, s *catalog.Sampler, exact bool, first uint64) ([]float64, error) {
	out := make([]float64, len(ts))
	if exact {
		values, err := e.Values(ctx, ts, s)
		for i, v := range values {
			out[i] = v.Sampler.NegLog
		}
		return out, err
	}
	for i, t := range ts {
		var err error
		if out[i], err = e.BlockBound(ctx, t, s, max(c.Paths, 1), draw.NewStream(c.Seed^twoSeed, 2*uint64(i)+first)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
