package samplers

import (
	"errors"
	"slices"
)

// A fill with history draws a token from the rows of two calls. If p is a row on the
// canvas as it is and p′ the row of the same position on the canvas of the call
// before, p + w·(p−p′) extrapolates: to first order in the dependence between
// positions it gives a token what it would know of those that are revealed beside it.

// Mix writes to dst the distribution
//
//	max((1+w)·p − w·prev, floor·p), normalised,
//
// p and prev being distributions over the same tokens, w ≥ 0, floor in 0..1. Since
// (1+w)·p − w·prev sums to 1, what is normalised sums to at least 1. A floor above 0
// leaves every token possible that p leaves possible. dst may be p or prev. It
// panics when lengths differ.
func Mix(dst, p, prev []float64, w, floor float64) {
	if len(dst) != len(p) || len(prev) != len(p) {
		panic("samplers: Mix of rows of different lengths")
	}
	var sum float64
	for i, x := range p {
		// Both products are rounded, so that the row is the same on every processor.
		y := max(x+float64(w*float64(x-prev[i])), float64(floor*x))
		dst[i] = y
		sum += y
	}
	for i := range dst {
		dst[i] /= sum
	}
}

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
	Mix(p.mixed, p.mixed, p.before, b.Weight, b.Floor)
	token, logP = r.draw.pick(p.mixed, u)
	return token, logP, nil
}
