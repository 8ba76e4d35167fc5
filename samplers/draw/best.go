package draw

import (
	"math"
	"slices"
)

// Best is the result of a draw without its row.
type Best struct {
	// Token is the token that [Categorical.Token] draws, and LogP the logarithm, in nats, of the
	// probability with which it was drawn.
	Token int
	LogP  float64
	// Top holds the requested number of most probable tokens of the distribution drawn from, the most
	// probable first and the lowest id first among equals. Entropy is the entropy of that distribution in
	// nats. Both are set only if tokens were requested. At temperature 0 they are those of temperature 1.
	Top     []Scored
	Entropy float64
}

// Scored is a token with its log-probability in nats.
type Scored struct {
	Token int
	LogP  float64
}

// Best draws from a row with one uniform w in (0,1), like Token, and finds the top most probable
// tokens, or fewer if fewer have probability. Errors are Token's.
func (c *Categorical) Best(row Row, w float64, top int) (b Best, err error) {
	if b.Token, b.LogP, err = c.TokenLog(row, w); err != nil || top == 0 {
		return b, err
	}
	greatest, err := c.top(row)
	if err != nil {
		return b, err
	}
	temperature := c.temperature
	if temperature == 0 {
		temperature = 1
	}
	sum := c.weights(row, greatest, temperature)
	norm := math.Log(sum)
	var mean float64
	for _, s := range c.allowed {
		for i, p := range c.p[s.from:s.to] {
			if p == 0 {
				continue
			}
			y := (row.At(s.from+i) - greatest) / temperature
			mean += p * y
			if len(b.Top) == top && !(y-norm > b.Top[top-1].LogP) {
				continue
			}
			at, _ := slices.BinarySearchFunc(b.Top, y-norm, func(x Scored, y float64) int {
				if x.LogP >= y {
					return -1
				}
				return 1
			})
			if len(b.Top) == top {
				b.Top = b.Top[:top-1]
			}
			b.Top = slices.Insert(b.Top, at, Scored{s.from + i, y - norm})
		}
	}
	b.Entropy = norm - mean/sum
	return b, nil
}

// first returns the first allowed column whose logit is value, which must exist.
func (c *Categorical) first(row Row, value float64) int {
	for _, s := range c.allowed {
		for i := s.from; i < s.to; i++ {
			if row.At(i) == value {
				return i
			}
		}
	}
	panic("draw: a row without its greatest logit")
}
