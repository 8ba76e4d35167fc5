package likelihood

import (
	"context"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// causal reads windows by causal rows. Each takes one row, whatever its length; windows of a length share
// calls.
func (e *Evaluator) causal(ctx context.Context, ts []Target) ([]Ask, error) {
	asks := make([]Ask, len(ts))
	for i, t := range ts {
		if err := e.Check(t); err != nil {
			return nil, err
		}
		asks[i] = wholeAsk(&t, t.Free)
	}
	return asks, e.Eval(ctx, asks)
}

// wholeAsk asks for positions of a clean text, by causal rows if the network has them.
func wholeAsk(t *Target, wanted []int) Ask {
	end := samplers.Span{From: len(t.IDs), To: len(t.IDs)}
	return Ask{Target: &Target{t.IDs, t.Free, end}, Wanted: wanted, LogMu: make([]float64, len(wanted)), Lambda: 1}
}

// Costs returns −log P of texts under a sampler, in nats: exact if paths is 0, else upper bounds in
// expectation by plans inside the blocks of a network that fills blocks: the sum over blocks of −log of the
// mean probability of that many paths, drawn by seed.
func (e *Evaluator) Costs(ctx context.Context, ts []Target, s *catalog.Sampler, paths int, seed uint64) ([]float64, error) {
	out := make([]float64, len(ts))
	if paths == 0 {
		values, err := e.Values(ctx, ts, s)
		for i, v := range values {
			out[i] = v.Sampler.NegLog
		}
		return out, err
	}
	inner, size := e.insideBlocks(s)
	if inner == nil {
		return nil, fault.Errorf("likelihood", "%s has no plans inside blocks", s)
	}
	for i, t := range ts {
		if err := e.Check(t); err != nil {
			return nil, err
		}
		alone, parts := e.parts(&t, size)
		stream := draw.NewStream(seed, uint64(i))
		for k, part := range append(alone, parts...) {
			n := paths
			if k < len(alone) {
				n = 1
			}
			costs, err := e.PathCosts(ctx, &part, inner, n, stream)
			if err != nil {
				return nil, err
			}
			out[i] += CostOfMean(costs)
		}
	}
	return out, nil
}
