package plan

import (
	"fmt"

	"mdmgen/samplers"
)

// MaxLookahead is the greatest number of canvases that one sequence may query in a call.
const MaxLookahead = 1024

// lookahead is the decoder of a plan that reveals one position per call. Given the plan and the
// uniforms, a sample is a function of the network's rows. The decoder drafts later tokens from the
// available rows, each with its own uniform, and queries all canvases on the way in one call:
// canvas j holds the first j drafts and gives the row of the position after them. A token drawn
// from that row is the sample's own if the drafts before it were right. The call reveals the tokens
// up to and including the first that differs from its draft, at least one. Drafts consume no
// randomness, so the ids are those of one position per call. The rows of canvases after a wrong
// draft give drafts for the next call.
//
// It is the fixed-point iteration of Wiggers and Hoogeboom, "Predictive Sampling with
// Forecasting Autoregressive Models", ICML 2020, in the order of the plan.
type lookahead struct {
	*planned
	canvas *samplers.Canvas
	// most is the greatest number of canvases in a call.
	most int
	// drafts holds the tokens that the next blocks may reveal.
	drafts []int64
	// ids [canvases·length] holds the canvases of the call.
	ids []int64
}

// upcoming returns the positions of at most n blocks from number i on.
func (p *lookahead) upcoming(i, n int) []int {
	return p.plan.positions[i:min(i+n, len(p.plan.Blocks))]
}

func (p *lookahead) Ask(a *samplers.Ask) bool {
	if p.next == len(p.plan.Blocks) {
		return p.planned.Ask(a)
	}
	length, last := p.canvas.Len(), len(p.drafts)
	p.ids, p.uniforms = append(p.ids[:0], p.canvas.IDs()...), p.uniforms[:0]
	for j, l := range p.upcoming(p.next, last) {
		p.ids = append(p.ids, p.ids[j*length:]...)
		p.ids[(j+1)*length+l] = p.drafts[j]
	}
	for j := range last + 1 {
		// The positions after the first are for the drafts of the next call: see Take.
		wanted := 2
		if j == last {
			wanted = p.most
		}
		positions := p.upcoming(p.next+j, wanted)
		from := len(p.uniforms)
		p.uniforms = p.draws.Tokens(p.uniforms, positions)
		a.Rows = append(a.Rows, samplers.AskRow{
			Canvas:    p.ids[j*length : (j+1)*length],
			Positions: positions,
			Theta:     p.plan.Blocks[p.next+j].Theta,
			Uniforms:  p.uniforms[from:],
		})
	}
	a.Head, a.Step = samplers.HeadBest, p.plan.Blocks[p.next].Step
	return true
}

func (p *lookahead) Take(r samplers.Rows, e *samplers.Edit) error {
	if p.finishing {
		return p.planned.Take(r, e)
	}
	first, last := p.next, len(p.drafts)
	right := 0 // the last canvas without a wrong draft
	for agree := true; agree; p.next++ {
		right = p.next - first
		b := p.plan.Blocks[p.next]
		l := b.Positions[0]
		got, err := r.Best(right, 0)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		e.Set(l, got.Token, got.LogP)
		e.Hit(b.Hits[0])
		agree = right < last && p.drafts[right] == int64(got.Token)
	}
	// The next token is drafted from the last right canvas, which lacks the token before it. Each
	// later one is drafted from the canvas that holds all tokens before it, one of them wrong, or
	// from the last canvas if there is none. On text this takes fewer calls than drafting all of
	// them from the last right canvas, or none.
	p.drafts = p.drafts[:0]
	ahead := p.upcoming(p.next, p.most)
	for i := range ahead[:max(len(ahead)-1, 0)] {
		block := right + 1 + i // counted from the first of the call
		canvas := right
		if i > 0 {
			canvas = min(block, last)
		}
		got, err := r.Best(canvas, block-canvas)
		if err != nil {
			break // a wrong canvas may have a row without a token
		}
		p.drafts = append(p.drafts, int64(got.Token))
	}
	return nil
}
