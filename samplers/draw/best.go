package draw

import (
	"math"
	"slices"
)

// Best is what is found of a row where no more of it is wanted.
type Best struct {
	// Token is the one that [Categorical.Token] draws, LogP the logarithm, in nats, of the
	// probability that it was drawn with.
	Token int
	LogP  float64
	// Top are the most probable tokens of what it was drawn from, as many as were asked
	// for, the most probable first and the lowest id first among equals, and Entropy is the
	// entropy of that law in nats; both only where any were asked for. At temperature 0
	// they are those of temperature 1.
	Top     []Scored
	Entropy float64
}

// Scored is a token with the logarithm of its probability in nats.
type Scored struct {
	Token int
	LogP  float64
}

// Best draws from a row with one uniform w in (0,1), as Token does, and finds the top most
// probable tokens; fewer where fewer have probability. Errors are Token's.
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

// first returns the first allowed column of a value that there is.
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
