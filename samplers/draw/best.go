package draw

import (
	"math"
	"slices"
	"sort"
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

// Among inserts s into list, the at most k most probable tokens in descending order, after its
// equals, if it is one of the k most probable. k is at least 1.
func Among(list []Scored, s Scored, k int) []Scored {
	if len(list) == k && s.LogP <= list[k-1].LogP {
		return list
	}
	at := sort.Search(len(list), func(i int) bool { return list[i].LogP < s.LogP })
	return slices.Insert(list, at, s)[:min(len(list)+1, k)]
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
			b.Top = Among(b.Top, Scored{s.from + i, y - norm}, top)
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
