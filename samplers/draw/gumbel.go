package draw

import "math"

// By names a way to draw a token with a uniform.
type By string

// The ways to draw. Both are exact.
const (
	// ByInverse inverts the cumulative distribution in ascending order of the tokens. The network
	// can do this itself.
	ByInverse By = "inverse"
	// ByGumbel selects the token with the greatest log p + G, where G is Gumbel noise, a function of the
	// seed, the sequence, the position, the number of the draw there and the token. Two rows at
	// total-variation distance TV give the same token with probability at least (1−TV)/(1+TV), in
	// whatever order the tokens are, so guesses from other canvases are right more often. It needs rows.
	ByGumbel By = "gumbel"
)

// race draws from the weights of the columns by Gumbel-max, with noise determined by w and the
// column. −G is the logarithm of an exponential variable E, so the token with the least E/p wins.
// Since E = −log(1−x) ≥ x, a token has lost if x ≥ least·p, and its weight need not be computed if
// x is above least times the sum of its stretch. Of 50,000 tokens about 500 weights are computed,
// and about a dozen logarithms.
//
// x is (k+½)/2^63, where k is SplitMix64's output for the column from the state w. A token's
// probability is off by at most 2^−63 plus a relative error of a few 1e-15.
func (c *Categorical) race(weight func(column int) float64, w float64) (token int, p float64) {
	const golden = 0x9e3779b97f4a7c15 // SplitMix64's
	key, least := math.Float64bits(w), math.Inf(1)
	for i, s := range c.stretches {
		within := reach(least * c.sums[i])
		state := key + uint64(s.from)*golden
		for a := s.from; a < s.to; a++ {
			state += golden
			k := splitMix(state) >> 1
			if k > within {
				continue
			}
			q := weight(a)
			// The greatest x rounds to 1.
			x := min((float64(k)+0.5)*0x1p-63, 1-0x1p-53)
			if !(x < least*q) { // also if the first has probability 0
				continue
			}
			if e := -math.Log1p(-x) / q; e < least {
				token, p, least = a, q, e
				within = reach(least * c.sums[i])
			}
		}
	}
	return token, p
}

// reach returns an upper bound on the k of all x below limit.
func reach(limit float64) uint64 {
	if limit < 1 {
		return uint64(limit * (1 + 0x1p-20) * 0x1p63)
	}
	return math.MaxUint64
}
