package likelihood

import (
	"math"
	"math/bits"
)

// NELBO returns the negative evidence lower bound L_∞ of the window, exactly:
//
//	Σ_{k=1}^d (1/k)·E_{M_k} Σ_{l∈M_k} −log μ^l(x_l | x outside M_k),
//
// M_k uniform among the subsets of k positions. It is at least the table's FHS for any rows, and
// +Inf if a row excludes its token.
func (t *Table) NELBO() float64 {
	weight := t.subsetWeights()
	var sum float64
	for a := range 1<<t.D - 1 {
		sum += weight[bits.OnesCount(uint(a))] * t.cost(a)
	}
	return sum
}

// cost returns Σ −log μ over the positions outside a.
func (t *Table) cost(a int) float64 {
	var sum float64
	for i := range t.D {
		if a>>i&1 == 0 {
			sum -= t.LogMu[a*t.D+i]
		}
	}
	return sum
}

// subsetWeights returns, by the number of visible positions, 1/(k·C(d,k)) with k
// masked ones: the integral of λ^(k−1)(1−λ)^(d−k) over λ in [0,1].
func (t *Table) subsetWeights() []float64 {
	out := make([]float64, t.D)
	choose := 1.0 // C(d, visible)
	for visible := range out {
		k := t.D - visible
		out[visible] = 1 / (float64(k) * choose)
		choose = choose * float64(k) / float64(visible+1)
	}
	return out
}

// LeftToRight returns −log P of revealing the positions from left to right.
func (t *Table) LeftToRight() float64 { return t.Chain(InOrder(t.D)) }

// ExactRows returns the number of network rows of a table of d free positions.
func ExactRows(d int) float64 { return math.Ldexp(1, d) }
