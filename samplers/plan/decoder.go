package plan

import (
	"errors"
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// planned is the decoder of all plans. It makes one call for each block, and draws a token at each
// of its positions.
type planned struct {
	method *Method
	draws  *draw.Numbers
	head   samplers.Head
	plan   Plan
	// next counts the blocks requested so far. block is the one to fill; when finishing it holds
	// the plan's Left.
	next      int
	block     Block
	finishing bool
	// uniforms are those of the block's tokens.
	uniforms []float64
	// kept holds the rows [len(keptAt)·columns] of the previous call at the positions keptAt, to
	// which the block to fill looks back.
	kept          draw.Row
	keptAt        []int
	mixed, before []float64
}

// Fork returns a copy of the decoder on a copy of its canvas, with other random numbers.
func (p *planned) Fork(_ *samplers.Canvas, d *draw.Numbers) samplers.Decoder {
	next := *p
	next.draws, next.uniforms, next.mixed, next.before = d, nil, nil, nil
	next.kept = p.kept.Clone()
	return &next
}

// Report adds the events of the plan.
func (p *planned) Report(r *samplers.Result) { r.Events += p.plan.Events }

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
	if len(p.block.Ahead) > 0 {
		want = slices.Concat(want, p.block.Ahead)
	}
	a.Head = p.head
	if p.uniforms = p.uniforms[:0]; p.head == samplers.HeadBest {
		p.uniforms = p.draws.Tokens(p.uniforms, want)
	}
	a.Rows = append(a.Rows, samplers.AskRow{Positions: want, Theta: p.block.Theta, Uniforms: p.uniforms})
	a.Step, a.Finish = p.block.Step, p.finishing
	return true
}

func (p *planned) Take(r samplers.Rows, e *samplers.Edit) error {
	b := &p.block
	for i, l := range b.Positions {
		token, logP, err := p.token(r, i)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		e.Set(l, token, logP)
		if b.Hits != nil {
			e.Hit(b.Hits[i])
		}
	}
	p.keep(r)
	return nil
}

// keep stores the rows of the positions Ahead for the next block, replacing those stored for this
// one. Logits take half the memory of probabilities and reproduce them exactly.
func (p *planned) keep(r samplers.Rows) {
	p.keptAt, p.kept = p.block.Ahead, p.kept.Empty()
	for i := range p.keptAt {
		p.kept = p.kept.Append(r.Row(0, len(p.block.Positions)+i))
	}
}

var errNoHistory = errors.New("the plan looks back at a row that the previous call did not return")

// token draws the token of the block's i-th position from its row.
func (p *planned) token(r samplers.Rows, i int) (token int, logP float64, err error) {
	b := &p.block
	u := p.draws.Token(b.Positions[i])
	if r.Head() == samplers.HeadBest {
		best, err := r.Best(0, i)
		return best.Token, best.LogP, err
	}
	if b.Weight == 0 {
		return r.Token(0, i, u)
	}
	at := slices.Index(p.keptAt, b.Positions[i])
	if at < 0 {
		return 0, 0, errNoHistory
	}
	columns := r.Columns()
	p.mixed, p.before = slices.Grow(p.mixed[:0], columns)[:columns], slices.Grow(p.before[:0], columns)[:columns]
	if err := r.Probabilities(p.mixed, 0, i); err != nil {
		return 0, 0, err
	}
	if err := r.Categorical().Probabilities(p.before, p.kept.Slice(at*columns, (at+1)*columns)); err != nil {
		return 0, 0, err
	}
	draw.Mix(p.mixed, p.mixed, p.before, b.Weight, b.Floor)
	token, logP = r.Categorical().Pick(p.mixed, u)
	return token, logP, nil
}
