package plan

import (
	"fmt"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// planned is the decoder of all plans. It makes one call for each block, and draws a token at each
// of its positions.
type planned struct {
	method *Method
	draws  *draw.Numbers
	plan   Plan
	// next counts the blocks requested so far. block is the one to fill; when finishing it holds
	// the plan's Left.
	next      int
	block     Block
	finishing bool
	// uniforms are those of the block's tokens.
	uniforms []float64
}

func (p *planned) Ask(a *samplers.Ask) bool {
	switch {
	case p.next < len(p.plan.Blocks):
		p.block = p.plan.Blocks[p.next]
		p.next++
	case p.method.Denoise && !p.finishing && len(p.plan.Left) > 0:
		p.finishing = true
		p.block = Block{Positions: p.plan.Left, Lambda: p.plan.LeftLambda, Theta: p.plan.LeftTheta, Step: -1}
	default:
		return false
	}
	want := p.block.Positions
	a.Head, p.uniforms = samplers.HeadBest, p.draws.Tokens(p.uniforms[:0], want)
	a.Rows = append(a.Rows, samplers.AskRow{Positions: want, Theta: p.block.Theta, Uniforms: p.uniforms})
	a.Step, a.Finish = p.block.Step, p.finishing
	return true
}

func (p *planned) Take(r samplers.Rows, e *samplers.Edit) error {
	b := &p.block
	for i, l := range b.Positions {
		best, err := r.Best(0, i)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		e.Set(l, best.Token, best.LogP)
		if b.Hits != nil {
			e.Hit(b.Hits[i])
		}
	}
	return nil
}
