package likelihood

import (
	"context"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
)

// A block-causal network, and one with causal rows, fills one block after another, so −log P of a text
// is the sum over its blocks, each given the clean blocks before it. The same holds for the NELBO
// (BD3-LM, arXiv 2503.09573, equation 7).

// parts returns a target for the free positions of each block of size positions. Those that are filled
// before the rest of their block are in alone: the first position of a block, if the last row before
// the block predicts it. The blocks of a network with causal rows begin at the first free position.
func (e *Evaluator) parts(t *Target, size int) (alone, parts []Target) {
	last, first := -1, 0
	if e.facts.Causal {
		first = t.Free[0]
	}
	for _, l := range t.Free {
		from := l - (l-first)%size
		part := Target{IDs: t.IDs, Free: []int{l}}
		switch {
		case e.facts.NeedsFirst() && l == from:
			part.Block = samplers.Span{From: l, To: l}
			alone = append(alone, part)
		case from == last:
			p := &parts[len(parts)-1]
			p.Free = append(p.Free, l)
		default:
			part.Block = samplers.Span{From: from, To: min(from+size, len(t.IDs))}
			parts, last = append(parts, part), from
		}
	}
	return alone, parts
}

// insideBlocks returns the sampler that fills one block of a network that fills blocks, if s has a plan
// for them, with their length, and nil otherwise.
func (e *Evaluator) insideBlocks(s *catalog.Sampler) (inner *catalog.Sampler, size int) {
	o, spec := s.Settings().Options, e.model.Spec()
	if size = o.BlockLength; size == 0 || spec.Grid() != size && !spec.Causal || replays(s) {
		return nil, 0
	}
	o.BlockLength, o.PromptLength, o.Cache, spec.BlockSize, spec.Causal = 0, nil, "", 0, false
	if inner, err := catalog.New(o, spec); err == nil && inner.Planned() {
		return inner, size
	}
	return nil, 0
}

// withoutCache returns s without a cache of finished blocks, which changes no row.
func (e *Evaluator) withoutCache(s *catalog.Sampler) (*catalog.Sampler, error) {
	o := s.Settings().Options
	if cache.Kind(o.Cache) != cache.Blocks {
		return s, nil
	}
	o.Cache = "none"
	return catalog.New(o, e.model.Spec())
}

// blockValues computes the exact values of windows as sums over parts, each given all positions
// before it.
func (e *Evaluator) blockValues(ctx context.Context, ts []Target, inner *catalog.Sampler, size int, out []Values) error {
	for i, t := range ts {
		if err := e.Check(t); err != nil {
			return err
		}
		alone, parts := e.parts(&t, size)
		values, err := e.Values(ctx, append(alone, parts...), inner)
		if err != nil {
			return err
		}
		sum := &out[i]
		for _, v := range values {
			sum.Sampler.NegLog += v.Sampler.NegLog
			sum.Rows += v.Rows
			of := func(v *Values) []**estimate.Number {
				return []**estimate.Number{&v.NELBO, &v.FHS, &v.LeftToRight, &v.ScoreEntropy, &v.Leave, &v.Denoise}
			}
			for k, x := range of(&v) {
				if to := of(sum)[k]; *to != nil && *x != nil {
					**to += **x
				} else if *to == nil {
					*to = *x
				}
			}
		}
	}
	return nil
}

// estimateBlocks implements [Evaluator.Estimate] by [Subsets] of each part: a draw masks some
// positions of every part, on a noisy copy of the text.
func (e *Evaluator) estimateBlocks(ctx context.Context, ts []Target, first uint64, c Config) ([]Result, error) {
	out := make([]Result, len(ts))
	for i := range ts {
		t := &ts[i]
		if err := e.Check(*t); err != nil {
			return nil, err
		}
		d := drawer{cfg: c, target: t}
		d.stream.Reset(c.Seed, first+uint64(i))
		alone, parts := e.parts(t, e.facts.BlockSize)
		noisy := *t
		noisy.Block = samplers.Span{From: t.Free[0], To: t.Free[0] + e.facts.BlockSize}
		n := c.DrawsOr()
		asks, weights := make([]Ask, n), make([][]float64, n)
		for j := range asks {
			a := Ask{Target: &noisy, Lambda: 1}
			for p, part := range parts {
				free := part.Free
				d.free = free
				// The strata of a part are those of the previous part, rotated, which makes the
				// costs of draws more even.
				_, u := math.Modf((float64(j)+d.stream.Float64())/float64(n) + float64(p)/float64(len(parts)))
				k := min(1+int(u*float64(len(free))), len(free))
				masked, _ := d.smallest(k)
				a.Masked = append(a.Masked, masked...)
				weights[j] = append(weights[j], slices.Repeat([]float64{float64(len(free)) / float64(k)}, k)...)
			}
			a.Wanted, a.LogMu = a.Masked, make([]float64, len(a.Masked))
			asks[j] = a
		}
		before := e.totals.Rows
		certain, err := e.evalNoisy(ctx, t, alone, asks)
		if err != nil {
			return nil, err
		}
		values := make([]float64, n)
		for j, a := range asks {
			for k, logMu := range a.LogMu {
				values[j] -= weights[j][k] * logMu
			}
			values[j] -= certain
		}
		out[i] = Result{Nats: d.interval(values), Rows: e.totals.Rows - before}
	}
	return out, nil
}

// evalNoisy answers asks about noisy copies of a text. Their rows see their own block with its
// masks and the earlier blocks without any. It returns Σ log μ at the positions alone, whose rows
// see no mask.
func (e *Evaluator) evalNoisy(ctx context.Context, t *Target, alone []Target, asks []Ask) (certain float64, err error) {
	if len(t.IDs) <= e.facts.BlockSize && !e.facts.Causal {
		return 0, e.Eval(ctx, asks) // No block precedes the only one.
	}
	if err := cache.Check(e.model); err != nil {
		return 0, err
	}
	e.kept = e.model.(samplers.Keeper).Keep(len(t.IDs))
	defer func() { e.kept, e.noisy = nil, false }()
	clean := *t
	clean.Block = samplers.Span{From: len(t.IDs), To: len(t.IDs)}
	whole := []Ask{{Target: &clean, LogMu: make([]float64, max(len(alone), 1)), Lambda: 1}}
	for _, first := range alone {
		whole[0].Wanted = append(whole[0].Wanted, first.Free[0])
	}
	if len(alone) == 0 {
		whole[0].Wanted = t.Free[:1] // not used, but a call needs a position
	}
	if err := e.Eval(ctx, whole); err != nil {
		return 0, err
	}
	for j := range alone {
		certain += whole[0].LogMu[j]
	}
	e.noisy = true
	return certain, e.Eval(ctx, asks)
}
