package draw

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mdmgen/internal/expsum"
	"mdmgen/internal/fault"
)

// Categorical turns rows of logits into tokens, in float64. It belongs to
// one goroutine.
type Categorical struct {
	columns int
	// excluded are columns that have no probability, suppressed those that are not drawn
	// though they have. allowed are the columns that may be drawn, stretches the same in short
	// pieces; clean are those that have probability.
	excluded, suppressed      []int
	allowed, stretches, clean []stretch
	draw                      Settings
	temperature               float64 // that of draw
	by                        By      // exact: [ByInverse], which "" is, or [ByGumbel]
	*scratch
}

// scratch is memory in which rows are worked out. It belongs to one goroutine; its zero value
// is ready.
type scratch struct {
	p, sums    []float64
	heap, kept []int
}

// stretch is a range of columns, end excluded.
type stretch struct{ from, to int }

// NewCategorical prepares draws over a vocabulary. It is an error when no column
// is left or an excluded one does not exist.
func NewCategorical(v Vocabulary, d Settings) (*Categorical, error) {
	if v.Columns < 1 || v.Mask < 0 || v.Mask > v.Columns {
		return nil, fault.Errorf("draw", "%d columns and mask id %d: need at least one column and the mask in 0..%d", v.Columns, v.Mask, v.Columns)
	}
	out := Categorical{columns: v.Columns, excluded: append([]int{v.Mask, v.Columns}, v.Excluded...), scratch: new(scratch)}
	if err := out.allow(nil); err != nil {
		return nil, err
	}
	out.clean = out.allowed
	out, err := out.With(d, ByInverse)
	return &out, err
}

// allow finds the columns that are neither excluded nor suppressed.
func (c *Categorical) allow(suppressed []int) error {
	none := slices.Concat(c.excluded, suppressed)
	slices.Sort(none)
	if none[0] < 0 || none[len(none)-1] > c.columns {
		return fault.Errorf("draw", "an excluded column is not in 0..%d", c.columns-1)
	}
	c.suppressed, c.allowed, c.stretches = suppressed, nil, nil
	from := 0
	for _, x := range none {
		if x > from {
			c.allowed = append(c.allowed, stretch{from, x})
		}
		for ; from < x; from += together {
			c.stretches = append(c.stretches, stretch{from, min(from+together, x)})
		}
		from = x + 1
	}
	if len(c.allowed) == 0 {
		return fault.Errorf("draw", "all of %d columns are excluded: no token is left to be drawn", c.columns)
	}
	return nil
}

// With draws from the same columns as d and by say, in the same memory.
func (c Categorical) With(d Settings, by By) (Categorical, error) {
	same := d.SuppressTokens == c.draw.SuppressTokens
	c.draw, c.temperature, c.by = d, d.AtTemperature(), by
	if err := d.Validate(); err != nil || same {
		return c, err
	}
	suppressed, err := d.suppressed(c.columns)
	if err != nil {
		return c, err
	}
	return c, c.allow(suppressed)
}

// in is c with other memory.
func (c Categorical) in(s *scratch) Categorical {
	c.scratch = s
	return c
}

// Settings are how tokens are drawn.
func (c *Categorical) Settings() Settings { return c.draw }

// By is what becomes of a uniform.
func (c *Categorical) By() By { return c.by }

// Suppressed are the columns of [Settings.SuppressTokens]. They must not be changed.
func (c *Categorical) Suppressed() []int { return c.suppressed }

// ErrNoMass is the error of a row in which no token can be drawn.
var ErrNoMass = errors.New("every token has probability 0")

var (
	errNaN      = errors.New("a logit is not a number")
	errInfinite = errors.New("a logit is +Inf")
)

// Token draws from a row of logits with one uniform w in (0,1), by inverting the
// cumulative distribution in ascending order of the columns. −Inf is probability 0.
// It is an error when a logit is NaN or +Inf, or all are −Inf. It panics on a row of
// the wrong length.
func (c *Categorical) Token(row Row, w float64) (int, error) {
	token, _, err := c.TokenLog(row, w)
	return token, err
}

// TokenLog is Token with the logarithm, in nats, of the probability that the token was
// drawn with.
func (c *Categorical) TokenLog(row Row, w float64) (token int, logP float64, err error) {
	top, err := c.top(row)
	if err != nil {
		return 0, 0, err
	}
	if c.temperature == 0 {
		return c.first(row, top), 0, nil
	}
	if c.draw.Truncates() {
		c.weights(row, top, c.temperature)
		token, logP = c.Pick(c.p, w)
		return token, logP, nil
	}
	c.sums = c.sums[:0]
	for _, s := range c.stretches {
		c.sums = append(c.sums, row.sum(s, top, c.temperature))
	}
	token, logP = c.choose(func(i int) float64 { return expsum.Term(row.At(i), top, c.temperature) }, w)
	return token, logP, nil
}

// Pick draws from weights, one a column and none of them negative, with one uniform w in (0,1);
// log p is its logarithm under them, normalised, in nats.
func (c *Categorical) Pick(p []float64, w float64) (token int, logP float64) {
	c.sums = c.sums[:0]
	for _, s := range c.stretches {
		var sum float64
		for _, x := range p[s.from:s.to] {
			sum += x
		}
		c.sums = append(c.sums, sum)
	}
	return c.choose(func(i int) float64 { return p[i] }, w)
}

// choose draws from the weights of the columns, those of each stretch summing to c.sums.
func (c *Categorical) choose(weight func(column int) float64, w float64) (token int, logP float64) {
	var sum, p float64
	for _, x := range c.sums {
		sum += x
	}
	if c.by == ByGumbel {
		token, p = c.race(weight, w)
	} else {
		token, p = c.invert(weight, w*sum)
	}
	return token, math.Log(p / sum)
}

// TakesRows reports whether tokens are drawn from rows only, and not where a network has them.
func (c *Categorical) TakesRows() bool {
	return c.by == ByGumbel || c.draw.Truncates() || c.suppressed != nil
}

// together is the greatest number of columns of a stretch.
const together = 64

// invert finds the token whose weight takes the cumulative sum past a target, the uniform
// times the sum of all: first the stretch of columns that does, then the column in it.
// Weights below the normal numbers are never drawn. Where a uniform is within rounding of a
// boundary between two tokens, some 1e-15, another order of summation may find the other.
func (c *Categorical) invert(weight func(column int) float64, target float64) (token int, p float64) {
	var before, cumulative float64
	var at stretch // the last stretch that has weight
	for i, x := range c.sums {
		if x == 0 {
			continue
		}
		before, at = cumulative, c.stretches[i]
		if cumulative += x; cumulative > target {
			break
		}
	}
	// Where rounding has no column reach the target it is the last one.
	for i := at.from; i < at.to; i++ {
		x := weight(i)
		if x == 0 {
			continue
		}
		token, p = i, x
		if before += x; before > target {
			break
		}
	}
	return token, p
}

// Probabilities writes to dst, one a column, what Token draws from: after
// exclusion, temperature and truncation, summing to 1. Errors are Token's.
func (c *Categorical) Probabilities(dst []float64, row Row) error {
	top, err := c.top(row)
	if err != nil {
		return err
	}
	clear(dst)
	if c.temperature == 0 {
		dst[c.first(row, top)] = 1
		return nil
	}
	sum := c.weights(row, top, c.temperature)
	for _, s := range c.allowed {
		for i := s.from; i < s.to; i++ {
			dst[i] = c.p[i] / sum
		}
	}
	return nil
}

// top returns the greatest allowed logit.
func (c *Categorical) top(row Row) (float64, error) { return c.topOf(c.allowed, row) }

func (c *Categorical) topOf(spans []stretch, row Row) (float64, error) {
	if row.Len() != c.columns {
		panic(fmt.Sprintf("draw: a row of %d columns, want %d", row.Len(), c.columns))
	}
	best, bad := math.Inf(-1), false
	for _, s := range spans {
		x, nan := row.greatest(s)
		best, bad = max(best, x), bad || nan
	}
	switch {
	case bad:
		return 0, errNaN
	case math.IsInf(best, -1):
		return 0, ErrNoMass
	case math.IsInf(best, 1):
		return 0, errInfinite
	}
	return best, nil
}

// LogSum returns log Σ e^x over the columns that may get probability, in float64,
// whatever the temperature and whatever is suppressed. Errors are [Categorical.Token]'s.
func (c *Categorical) LogSum(row Row) (float64, error) {
	top, err := c.topOf(c.clean, row)
	if err != nil {
		return 0, err
	}
	var sum float64
	for _, s := range c.clean {
		sum += row.sum(s, top, 1)
	}
	return top + math.Log(sum), nil
}
