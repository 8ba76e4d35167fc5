package laws

import "math"

// Gamma returns γ(q0) = min q0(MASK|x^−i)/max_{a≠MASK} q0(a|x^−i) over positions and possible
// contexts x^−i. q0 [States] is a distribution of data that may contain MASK: the setting of the
// paper's Corollary 1 and Theorem 3.
func (s Space) Gamma(q0 []float64) float64 {
	out := math.Inf(1)
	for x := range s.States {
		s.EachMasked(x, func(l int) {
			most := 0.0
			for a := range s.V {
				most = max(most, q0[s.Reveal(x, l, a)])
			}
			if most > 0 {
				out = min(out, q0[x]/most)
			}
		})
	}
	return out
}
