package samplers

import (
	"errors"
	"slices"

	"mdmgen/samplers/draw"
)

// A fill with history draws a token from the rows of two calls, with [draw.Mix].

// keep remembers the rows of the positions ahead for the next block, in place of those
// that were remembered for this one. Logits take half the memory of probabilities
// and give the same ones again.
func (p *planned) keep(r Rows) {
	p.keptAt, p.kept = p.block.Ahead, p.kept[:0]
	for i := range p.keptAt {
		p.kept = append(p.kept, r.Logits(0, len(p.block.Positions)+i)...)
	}
}

var errNoHistory = errors.New("the plan looks back at a row that the call before did not give")

// token draws the token of the block's i-th position from its row.
func (p *planned) token(r Rows, i int) (token int, logP float64, err error) {
	b := &p.block
	u := p.draws.Token(b.Positions[i])
	if r.head == HeadBest {
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
	if err := r.draw.Probabilities(p.before, p.kept[at*columns:(at+1)*columns]); err != nil {
		return 0, 0, err
	}
	draw.Mix(p.mixed, p.mixed, p.before, b.Weight, b.Floor)
	token, logP = r.draw.Pick(p.mixed, u)
	return token, logP, nil
}
