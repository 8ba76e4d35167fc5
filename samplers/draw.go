package samplers

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/internal/expsum"
	"mdmgen/internal/fault"
)

// Draw says how a token is drawn from a row. The zero value draws from the
// network's distribution; every other changes the law. Temperature is applied
// first, then top-k, then top-p on what top-k left.
type Draw struct {
	// Temperature divides the logits; nil is 1, and 0 takes the greatest logit, the
	// lowest id among equals.
	Temperature *float64 `json:"temperature,omitempty"`
	// TopK keeps the K most probable tokens; 0 keeps all.
	TopK int `json:"top_k,omitempty"`
	// TopP keeps the smallest set of most probable tokens whose probability
	// reaches it, the token that crosses it included; 0 and 1 keep all.
	TopP float64 `json:"top_p,omitempty"`
	// SuppressTokens are never drawn: a list of ids. The rest of each row is normalised, so
	// that the law is that of another network.
	SuppressTokens string `json:"suppress_tokens,omitempty"`
}

// Within is d for a network with so many tokens that can be drawn, 0 for a number that is
// not known: a top-k that keeps all of them is none.
func (d Draw) Within(tokens int) Draw {
	if tokens > 0 && d.TopK >= tokens {
		d.TopK = 0
	}
	return d
}

// ChangesLaw says that tokens are not drawn from the network's own distribution.
func (d Draw) ChangesLaw() bool {
	return d.temperature() != 1 || d.truncates() || d.SuppressTokens != ""
}

// truncates says that tokens are kept and left out by their probabilities.
func (d Draw) truncates() bool { return d.TopK > 0 || d.TopP > 0 && d.TopP < 1 }

// Same says whether d and o are one way to draw: 1, say, is no temperature.
func (d Draw) Same(o Draw) bool {
	return d.temperature() == o.temperature() && cmp.Or(d.TopP, 1) == cmp.Or(o.TopP, 1) && d.TopK == o.TopK && d.SuppressTokens == o.SuppressTokens
}

// temperature is the one in force.
func (d Draw) temperature() float64 { return or(d.Temperature, 1) }

// Validate reports every fault at once.
func (d Draw) Validate() error {
	var errs []error
	if t := d.Temperature; t != nil && (!(*t >= 0) || math.IsInf(*t, 1)) {
		errs = append(errs, fault.Errorf("samplers", "temperature is %v: must be finite and at least 0", *t))
	}
	if d.TopK < 0 {
		errs = append(errs, fault.Errorf("samplers", "top-k is %d: must be at least 1, or 0 for all", d.TopK))
	}
	if !(d.TopP >= 0 && d.TopP <= 1) {
		errs = append(errs, fault.Errorf("samplers", "top-p is %v: must be in 0..1", d.TopP))
	}
	_, err := d.suppressed(0)
	return join(append(errs, err)...)
}

// suppressed are the ids of SuppressTokens; columns is 0 where they are not known.
func (d Draw) suppressed(columns int) ([]int, error) {
	return idList("suppress-tokens", d.SuppressTokens, columns)
}

// join makes one line of several errors, nil of none.
func join(errs ...error) error {
	var lines []string
	for _, err := range errs {
		if err != nil {
			lines = append(lines, fault.Plain(err))
		}
	}
	if lines == nil {
		return nil
	}
	return fault.Errorf("samplers", "%s", strings.Join(lines, "; "))
}

// Categorical turns rows of float32 logits into tokens, in float64. It belongs to
// one goroutine.
type Categorical struct {
	columns int
	// excluded are columns that have no probability, suppressed those that are not drawn
	// though they have. allowed are the columns that may be drawn, stretches the same in short
	// pieces; clean are those that have probability.
	excluded, suppressed      []int
	allowed, stretches, clean []span
	temperature               float64
	topK                      int
	topP                      float64
	gumbel                    bool // says that tokens are drawn by [ByGumbel]
	*scratch
}

// scratch is what rows are worked out in.
type scratch struct {
	p, sums    []float64
	heap, kept []int
}

// span is a range of columns, end excluded.
type span struct{ from, to int }

// NewCategorical prepares draws over a vocabulary. It is an error when no column
// is left or an excluded one does not exist.
func NewCategorical(v Vocabulary, d Draw) (*Categorical, error) {
	if v.Columns < 1 || v.Mask < 0 || v.Mask > v.Columns {
		return nil, fault.Errorf("samplers", "%d columns and mask id %d: need at least one column and the mask in 0..%d", v.Columns, v.Mask, v.Columns)
	}
	out := Categorical{columns: v.Columns, excluded: append([]int{v.Mask, v.Columns}, v.Excluded...), scratch: new(scratch)}
	if err := out.allow(nil); err != nil {
		return nil, err
	}
	out.clean = out.allowed
	out, err := out.with(d)
	return &out, err
}

// allow finds the columns that are neither excluded nor suppressed.
func (c *Categorical) allow(suppressed []int) error {
	none := slices.Concat(c.excluded, suppressed)
	slices.Sort(none)
	if none[0] < 0 || none[len(none)-1] > c.columns {
		return fault.Errorf("samplers", "an excluded column is not in 0..%d", c.columns-1)
	}
	c.suppressed, c.allowed, c.stretches = suppressed, nil, nil
	from := 0
	for _, x := range none {
		if x > from {
			c.allowed = append(c.allowed, span{from, x})
		}
		for ; from < x; from += together {
			c.stretches = append(c.stretches, span{from, min(from+together, x)})
		}
		from = x + 1
	}
	if len(c.allowed) == 0 {
		return fault.Errorf("samplers", "all of %d columns are excluded: no token is left to be drawn", c.columns)
	}
	return nil
}

// with draws from the same columns as d says, in the same memory.
func (c Categorical) with(d Draw) (Categorical, error) {
	c.temperature, c.topK, c.topP = d.temperature(), d.TopK, d.TopP
	if err := d.Validate(); err != nil || d.SuppressTokens == "" {
		return c, err
	}
	suppressed, err := d.suppressed(c.columns)
	if err != nil {
		return c, err
	}
	return c, c.allow(suppressed)
}

var (
	errNoMass   = errors.New("every token has probability 0")
	errNaN      = errors.New("a logit is not a number")
	errInfinite = errors.New("a logit is +Inf")
)

// Token draws from a row of logits with one uniform w in (0,1), by inverting the
// cumulative distribution in ascending order of the columns. −Inf is probability 0.
// It is an error when a logit is NaN or +Inf, or all are −Inf. It panics on a row of
// the wrong length.
func (c *Categorical) Token(row []float32, w float64) (int, error) {
	token, _, err := c.TokenLog(row, w)
	return token, err
}

// TokenLog is Token with the logarithm, in nats, of the probability that the token was
// drawn with.
func (c *Categorical) TokenLog(row []float32, w float64) (token int, logP float64, err error) {
	top, err := c.top(row)
	if err != nil {
		return 0, 0, err
	}
	if c.temperature == 0 {
		return c.first(row, top), 0, nil
	}
	if c.truncates() {
		c.weights(row, top, c.temperature)
		token, logP = c.pick(c.p, w)
		return token, logP, nil
	}
	shift := float64(top)
	c.sums = c.sums[:0]
	for _, s := range c.stretches {
		c.sums = append(c.sums, expsum.Sum(row[s.from:s.to], shift, c.temperature))
	}
	token, logP = c.choose(func(i int) float64 { return expsum.Term(row[i], shift, c.temperature) }, w)
	return token, logP, nil
}

// pick draws from a weight a column.
func (c *Categorical) pick(p []float64, w float64) (token int, logP float64) {
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
	if c.gumbel {
		token, p = c.race(weight, w)
	} else {
		token, p = c.invert(weight, w*sum)
	}
	return token, math.Log(p / sum)
}

// truncates says that tokens are kept and left out by their weights.
func (c *Categorical) truncates() bool { return c.topK > 0 || c.topP > 0 && c.topP < 1 }

// rows says that tokens are drawn from rows only.
func (c *Categorical) rows() bool { return c.gumbel || c.truncates() || c.suppressed != nil }

// together is the greatest number of columns of a stretch.
const together = 64

// invert finds the token whose weight takes the cumulative sum past a target, the uniform
// times the sum of all: first the stretch of columns that does, then the column in it.
// Weights below the normal numbers are never drawn. Where a uniform is within rounding of a
// boundary between two tokens, some 1e-15, another order of summation may find the other.
func (c *Categorical) invert(weight func(column int) float64, target float64) (token int, p float64) {
	var before, cumulative float64
	var at span // the last stretch that has weight
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
func (c *Categorical) Probabilities(dst []float64, row []float32) error {
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
func (c *Categorical) top(row []float32) (float32, error) { return c.topOf(c.allowed, row) }

func (c *Categorical) topOf(spans []span, row []float32) (float32, error) {
	if len(row) != c.columns {
		panic(fmt.Sprintf("samplers: a row of %d columns, want %d", len(row), c.columns))
	}
	best, bad := float32(math.Inf(-1)), false
	for _, s := range spans {
		x, nan := expsum.Greatest(row[s.from:s.to])
		best, bad = max(best, x), bad || nan
	}
	switch {
	case bad:
		return 0, errNaN
	case math.IsInf(float64(best), -1):
		return 0, errNoMass
	case math.IsInf(float64(best), 1):
		return 0, errInfinite
	}
	return best, nil
}
