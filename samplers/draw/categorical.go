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
	// excluded lists the columns without probability, and suppressed those that have probability
	// but are not drawn. allowed holds the columns that may be drawn, and stretches the same in
	// short pieces; clean holds those that have probability.
	excluded, suppressed      []int
	allowed, stretches, clean []stretch
	draw                      Settings
	temperature               float64 // of draw
	by                        By      // [ByInverse], also as "", or [ByGumbel]; both are exact
	*scratch
}

// scratch is memory for computations on rows. It belongs to one goroutine; its zero value is ready
// to use.
type scratch struct {
	p, sums    []float64
	heap, kept []int
}

// stretch is a range of columns, end excluded.
type stretch struct{ from, to int }

// NewCategorical prepares draws over a vocabulary. It returns an error if no column is left or an
// excluded one does not exist.
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

// With returns draws from the same columns by other settings, sharing c's memory.
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

// in returns c with other memory.
func (c Categorical) in(s *scratch) Categorical {
	c.scratch = s
	return c
}

// Settings returns the settings by which tokens are drawn.
func (c *Categorical) Settings() Settings { return c.draw }

// By returns the way in which a uniform selects a token.
func (c *Categorical) By() By { return c.by }

// Suppressed returns the columns of [Settings.SuppressTokens]. They must not be changed.
func (c *Categorical) Suppressed() []int { return c.suppressed }

// ErrNoMass is the error of a row in which no token can be drawn.
var ErrNoMass = errors.New("every token has probability 0")

var (
	errNaN      = errors.New("a logit is not a number")
	errInfinite = errors.New("a logit is +Inf")
)

// Token draws from a row of logits with one uniform w in (0,1), by inverting the cumulative
// distribution in ascending order of the columns, or by gumbel. −Inf is probability 0. It returns
// an error if a logit is NaN or +Inf, or all are −Inf. It panics if the row has the wrong length.
func (c *Categorical) Token(row Row, w float64) (int, error) {
	token, _, err := c.TokenLog(row, w)
	return token, err
}

// TokenLog is like Token, and also returns the logarithm, in nats, of the probability with which
// the token was drawn.
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

// Pick draws from nonnegative weights, one per column, with one uniform w in (0,1). logP is the
// logarithm of the token's normalised weight, in nats.
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

// choose draws from the weights of the columns; c.sums holds the sum of each stretch.
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

// TakesRows reports whether tokens can be drawn only from rows, and not by a [Network] itself.
func (c *Categorical) TakesRows() bool {
	return c.by == ByGumbel || c.draw.Truncates() || c.suppressed != nil
}

// together is the greatest number of columns of a stretch.
const together = 64

// invert finds the token whose weight takes the cumulative sum past target, the uniform times the
// total: first the stretch, then the column in it. Subnormal weights are never drawn. If a uniform
// is within rounding, about 1e-15, of a boundary between two tokens, another order of summation may
// find the other token.
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
	// If rounding keeps every column below the target, the last one is drawn.
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

// Probabilities writes to dst, per column, the distribution that Token draws from, after exclusion,
// temperature and truncation. It sums to 1. Errors are Token's.
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

// LogP returns the logarithm, in nats, of the probability with which Token draws a token, without
// underflow. dst receives the distribution, as from [Categorical.Probabilities].
func (c *Categorical) LogP(dst []float64, row Row, token int) (float64, error) {
	if err := c.Probabilities(dst, row); err != nil || dst[token] > 0x1p-1000 {
		return math.Log(dst[token]), err
	}
	logs := make([]float64, c.columns)
	err := c.LogProbabilities(logs, row)
	return logs[token], err
}

// LogProbabilities writes the logarithms of [Categorical.Probabilities], in nats, which do not
// underflow: a token has −Inf only if it is never drawn. The errors are those of [Categorical.Token].
func (c *Categorical) LogProbabilities(dst []float64, row Row) error {
	if c.temperature == 0 || c.draw.Truncates() {
		if err := c.Probabilities(dst, row); err != nil {
			return err
		}
		for i, p := range dst {
			dst[i] = expsum.Log(p, 0)
		}
		return nil
	}
	top, err := c.top(row)
	if err != nil {
		return err
	}
	var sum float64
	for i := range dst {
		dst[i] = math.Inf(-1)
	}
	for _, s := range c.allowed {
		sum += row.sum(s, top, c.temperature)
	}
	norm := math.Log(sum)
	for _, s := range c.allowed {
		for i := s.from; i < s.to; i++ {
			dst[i] = (row.At(i)-top)/c.temperature - norm
		}
	}
	return nil
}

// Softmax returns [Categorical.LogSum], and writes the network's own distribution to dst unless that is
// nil; dst must hold 0 at the columns that cannot have probability. It may be called concurrently.
func (c *Categorical) Softmax(dst []float64, row Row) (float64, error) {
	norm, err := c.LogSum(row)
	if err == nil && dst != nil {
		for _, s := range c.clean {
			row.into(dst, s, norm, 1)
		}
	}
	return norm, err
}

// Mass returns Σ e^(x − shift) over the columns that can have probability.
func (c *Categorical) Mass(row Row, shift float64) (sum float64) {
	for _, s := range c.clean {
		sum += row.sum(s, shift, 1)
	}
	return sum
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

// LogSum returns log Σ e^x, in float64, over the columns that can have probability. Temperature and
// suppressed tokens do not change it. Errors are those of [Categorical.Token].
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
