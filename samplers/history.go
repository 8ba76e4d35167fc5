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

// Pick draws from a distribution p, which need not be normalised, with one uniform w
// in (0,1), by inverting its cumulative sum in ascending order, as
// [Categorical.Token] does. It returns −1 where p sums to 0.
func Pick(p []float64, w float64) int {
	var sum float64
	for _, x := range p {
		sum += x
	}
	target, last := w*sum, -1
	var cumulative float64
	for i, x := range p {
		if x == 0 {
			continue
		}
		cumulative += x
		last = i
		if cumulative > target {
			break
		}
	}
	return last
}

// wanted is the number of rows that a block's call must return.
func (b *Block) wanted() int { return len(b.Positions) + len(b.Ahead) }

// want is the i-th position whose row is wanted: those that are revealed, then those
// ahead. Beyond the last it is the last again.
func (b *Block) want(i int) int {
	n := len(b.Positions)
	if i < n {
		return b.Positions[i]
	}
	if len(b.Ahead) == 0 {
		return b.Positions[n-1]
	}
	return b.Ahead[min(i-n, len(b.Ahead)-1)]
}

// keep remembers the rows of the positions ahead for the next block, in place of those
// that were remembered for this one. Logits take half the memory of probabilities
// and give the same ones again.
func (s *slot) keep(rows []float32, columns int) {
	s.keptAt = append(s.keptAt[:0], s.block.Ahead...)
	s.kept = append(s.kept[:0], rows[:len(s.keptAt)*columns]...)
}

var errNoHistory = errors.New("the plan looks back at a row that the call before did not give")

// token draws the token of a block's i-th position from its row.
func (e *engine) token(sl *slot, i int, row []float32) (int, error) {
	b := &sl.block
	l := b.Positions[i]
	if b.Weights == nil || b.Weights[i] == 0 {
		return e.category.Token(row, sl.w[l])
	}
	at := slices.Index(sl.keptAt, l)
	if at < 0 {
		return 0, errNoHistory
	}
	columns := len(row)
	e.mixed, e.before = slices.Grow(e.mixed[:0], columns)[:columns], slices.Grow(e.before[:0], columns)[:columns]
	if err := e.category.Probabilities(e.mixed, row); err != nil {
		return 0, err
	}
	if err := e.category.Probabilities(e.before, sl.kept[at*columns:(at+1)*columns]); err != nil {
		return 0, err
	}
	Mix(e.mixed, e.mixed, e.before, b.Weights[i], b.Floor)
	return Pick(e.mixed, sl.w[l]), nil
}
