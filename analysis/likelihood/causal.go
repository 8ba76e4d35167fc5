package likelihood

import (
	"cmp"
	"context"
	"math"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/subset"
)

// causal returns −log P of windows under a law of causal rows, in nats. Each takes one row, whatever its
// length; windows of a length share calls.
func (e *Evaluator) causal(ctx context.Context, ts []Target, law samplers.ByCausal) ([]float64, error) {
	asks, whole := make([]Ask, len(ts)), make([]Target, len(ts))
	for i, t := range ts {
		if err := e.Check(t); err != nil {
			return nil, err
		}
		n := len(t.IDs)
		whole[i] = Target{t.IDs, t.Free, samplers.Span{From: n, To: n}}
		asks[i] = Ask{Target: &whole[i], Wanted: t.Free, LogMu: make([]float64, len(t.Free)), Lambda: 1}
	}
	if err := e.Eval(ctx, asks); err != nil {
		return nil, err
	}
	out := make([]float64, len(ts))
	for i, t := range ts {
		tokens := make([]int, len(t.Free))
		for k, l := range t.Free {
			tokens[k] = t.IDs[l]
		}
		out[i] = law.NegLog(tokens, asks[i].LogMu)
	}
	return out, nil
}

// Bounds returns an error if [Evaluator.BlockBound] does not apply to a sampler.
func (e *Evaluator) Bounds(s *catalog.Sampler) error {
	if inner, _ := e.insideBlocks(s); inner == nil {
		return fault.Errorf("likelihood", "%s has no plans inside blocks", s)
	}
	return nil
}

// BlockBound returns an upper bound in expectation on −log P of a text, in nats, under a sampler with plans
// inside blocks: the sum over blocks of −log of the mean probability of k paths, drawn with stream.
func (e *Evaluator) BlockBound(ctx context.Context, t Target, s *catalog.Sampler, k int, stream *draw.Stream) (nats float64, err error) {
	inner, size := e.insideBlocks(s)
	if err := cmp.Or(e.Bounds(s), e.Check(t)); err != nil {
		return 0, err
	}
	alone, parts := e.parts(&t, size)
	for i, part := range append(alone, parts...) {
		paths := k
		if i < len(alone) {
			paths = 1
		}
		costs, err := e.PathCosts(ctx, &part, inner, paths, stream)
		if err != nil {
			return 0, err
		}
		for j := range costs {
			costs[j] = -costs[j]
		}
		nats += math.Log(float64(paths)) - subset.LogSum(costs)
	}
	return nats, nil
}
