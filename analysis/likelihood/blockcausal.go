package likelihood

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

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
		out[i] = values[0]
		for _, v := range values[1:] {
			out[i].Sampler.NegLog += v.Sampler.NegLog
			out[i].Rows += v.Rows
			for k, sum := range out[i].numbers() {
				if sum != nil {
					*sum += *v.numbers()[k]
				}
			}
		}
	}
	return nil
}

// blocks appends the draws of one window by [Subsets] of each part: a draw masks some positions of
// every part, on a noisy copy of the text. The asks of a window begin with that about the clean text,
// which gives the tokens alone, unless it has a single block.
func (d *drawer) blocks(e *Evaluator) {
	t, clean, n := d.target, len(d.asks), d.cfg.DrawsOr()
	alone, parts := e.parts(t, e.facts.BlockSize)
	var wanted []int
	for _, first := range alone {
		wanted = append(wanted, first.Free[0])
	}
	if len(alone) == 0 {
		wanted = t.Free[:1] // not used, but a call needs a position
	}
	if !e.oneBlock(t) {
		d.asks = append(d.asks, wholeAsk(t, wanted))
	}
	noisy := &Target{t.IDs, t.Free, samplers.Span{From: t.Free[0], To: t.Free[0] + e.facts.BlockSize}}
	for j := range n {
		a := Ask{Target: noisy, Lambda: 1}
		var weights []float64
		for p, part := range parts {
			d.free = part.Free
			// The strata of a part are those of the previous part, rotated, which makes the
			// costs of draws more even.
			_, u := math.Modf((float64(j)+d.stream.Float64())/float64(n) + float64(p)/float64(len(parts)))
			k := min(1+int(u*float64(len(part.Free))), len(part.Free))
			masked, _ := d.smallest(k)
			a.Masked = append(a.Masked, masked...)
			weights = append(weights, slices.Repeat([]float64{float64(len(part.Free)) / float64(k)}, k)...)
		}
		a.Wanted, a.LogMu = a.Masked, make([]float64, len(a.Masked))
		d.samples = append(d.samples, sample{from: len(d.asks), to: len(d.asks) + 1, value: func(asks []Ask) float64 {
			return -floats.Dot(weights, asks[0].LogMu) - floats.Sum(d.asks[clean].LogMu[:len(alone)])
		}})
		d.asks = append(d.asks, a)
	}
}

// oneBlock reports whether no block precedes the only one of a text, nor a causal row.
func (e *Evaluator) oneBlock(t *Target) bool {
	return len(t.IDs) <= e.facts.BlockSize && !e.facts.Causal
}

// evalBlocks answers the asks of blocks about a window. The rows of noisy copies see their own block
// with its masks and the earlier blocks without any.
func (e *Evaluator) evalBlocks(ctx context.Context, t *Target, asks []Ask) error {
	if e.oneBlock(t) {
		return e.Eval(ctx, asks)
	}
	if err := cache.Check(e.model); err != nil {
		return err
	}
	e.kept = e.model.(samplers.Keeper).Keep(len(t.IDs))
	defer func() { e.kept, e.noisy = nil, false }()
	if err := e.Eval(ctx, asks[:1]); err != nil {
		return err
	}
	e.noisy = true
	return e.Eval(ctx, asks[1:])
}
