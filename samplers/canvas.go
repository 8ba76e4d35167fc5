package samplers

import (
	"cmp"
	"fmt"
	"slices"

	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// Canvas is a sequence of tokens, some of them MASK.
type Canvas struct {
	ids         []int64
	spec        *Spec
	categorical *draw.Categorical // the distribution by which tokens are drawn
	// grown reports whether positions were appended.
	grown bool
	block Span
}

// NewCanvas returns a canvas for use outside an engine, whose tokens are drawn by categorical.
func NewCanvas(spec *Spec, categorical *draw.Categorical, ids []int) *Canvas {
	c := &Canvas{spec: spec, categorical: categorical}
	for _, id := range ids {
		c.ids = append(c.ids, int64(id))
	}
	return c
}

// Fork returns a copy with the given ids, and an edit that changes it outside an engine.
func (c *Canvas) Fork(ids []int64) (*Canvas, *Edit) {
	out := *c
	out.ids = slices.Clone(ids)
	return &out, &Edit{canvas: &out, draws: draw.NewNumbers(0, 0), step: new(Step)}
}

// Len returns the number of positions.
func (c *Canvas) Len() int { return len(c.ids) }

// ID returns the token at a position, or MASK's id if it is masked.
func (c *Canvas) ID(position int) int { return int(c.ids[position]) }

// IDs returns all tokens. The slice must not be changed; it changes with the canvas.
func (c *Canvas) IDs() []int64 { return c.ids }

// Spec returns the network's description. It must not be changed.
func (c *Canvas) Spec() *Spec { return c.spec }

// Categorical returns the distribution by which the canvas's tokens are drawn.
func (c *Canvas) Categorical() *draw.Categorical { return c.categorical }

// Grown reports whether positions were appended.
func (c *Canvas) Grown() bool { return c.grown }

// Masked appends the masked positions, ascending, to dst.
func (c *Canvas) Masked(dst []int) []int {
	for l := range c.ids {
		if c.IsMasked(l) {
			dst = append(dst, l)
		}
	}
	return dst
}

// IsMasked reports whether a position is masked.
func (c *Canvas) IsMasked(position int) bool { return c.ID(position) == c.spec.Mask }

// HoldsToken reports whether a position is not masked.
func (c *Canvas) HoldsToken(position int) bool { return !c.IsMasked(position) }

// Block returns the block that is being filled, for a network that is [Spec.Causal]: all of the canvas if
// none was set.
func (c *Canvas) Block() Span { return cmp.Or(c.block, Span{To: c.Len()}) }

// SetBlock sets it. Layers that fill a canvas in blocks do, so that decoders need not know of them.
func (c *Canvas) SetBlock(s Span) { c.block = s }

// Theta returns the −log α for a masked fraction, capped at the greatest for which the network has rows.
func (c *Canvas) Theta(lambda float64) float64 {
	return schedule.ThetaOf(min(lambda, c.spec.MostMasked()))
}

// Edit changes the canvas of a sequence after a call. Changes take effect immediately and are
// recorded in the call's [Step]. An Edit is valid only during [Decoder.Take].
type Edit struct {
	canvas  *Canvas
	draws   *draw.Numbers
	step    *Step
	err     error
	refuses func(position, token int) bool
}

// Refuse makes Set skip tokens for which refuses returns true.
func (e *Edit) Refuse(refuses func(position, token int) bool) { e.refuses = refuses }

// Err returns the decoder's first error, which ends its sequence.
func (e *Edit) Err() error { return e.err }

// Set puts a token that was drawn with log-probability logP, in nats, at a position, which may
// already hold a token. The token may be MASK, which then counts as drawn, unlike with [Edit.Mask].
// Set skips a token that [Edit.Refuse] rejects, such as one that completes a banned word.
func (e *Edit) Set(position, token int, logP float64) {
	if !e.fits(position, token) {
		return
	}
	e.draws.Took(position)
	if e.refuses != nil && e.refuses(position, token) {
		return
	}
	if e.canvas.IsMasked(position) && token != e.canvas.spec.Mask {
		e.step.Filled++
	}
	e.canvas.ids[position] = int64(token)
	e.step.Positions = append(e.step.Positions, position)
	e.step.Tokens = append(e.step.Tokens, token)
	e.step.LogP = append(e.step.LogP, logP)
	if len(e.step.Hits) > 0 {
		e.step.Hits = append(e.step.Hits, 0)
	}
}

// Hit records the masked fraction at which the last token set was revealed, for methods that
// simulate time.
func (e *Edit) Hit(lambda float64) {
	for len(e.step.Hits) < len(e.step.Positions) {
		e.step.Hits = append(e.step.Hits, 0)
	}
	if n := len(e.step.Hits); n > 0 {
		e.step.Hits[n-1] = lambda
	}
}

// Mask masks a position again. The next token drawn there uses another uniform.
func (e *Edit) Mask(position int) {
	if e.fits(position, e.canvas.spec.Mask) {
		if !e.canvas.IsMasked(position) {
			e.step.Filled--
		}
		e.canvas.ids[position] = int64(e.canvas.spec.Mask)
		e.step.Masked = append(e.step.Masked, position)
	}
}

// Grow appends masks to the canvas.
func (e *Edit) Grow(n int) {
	for range n {
		e.canvas.ids = append(e.canvas.ids, int64(e.canvas.spec.Mask))
	}
	e.canvas.grown = true
	e.step.Grown += n
}

// fits reports whether an edit is valid, and keeps the decoder's first error, which ends its sequence.
func (e *Edit) fits(position, token int) bool {
	spec := e.canvas.spec
	switch {
	case e.err != nil:
	case position < 0 || position >= e.canvas.Len():
		e.err = fmt.Errorf("the decoder edits position %d of a canvas of %d", position, e.canvas.Len())
	case !spec.Holds(token):
		e.err = fmt.Errorf("the decoder puts id %d at position %d: must be in 0..%d, or the mask's id %d", token, position, spec.Columns-1, spec.Mask)
	}
	return e.err == nil
}
