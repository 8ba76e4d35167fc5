package likelihood

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"mdmgen/samplers/schedule"
)

// FHS returns −log P of the first-hitting sampler (Algorithm 1), exactly:
//
//	g(∅) = 1,  g(A) = 1/(d−|A|+1) · Σ_{i∈A} g(A∖i)·μ^i(x_i | x_{A∖i}),  P = g([d]).
//
// It is +Inf if the text has probability 0.
func (t *Table) FHS() float64 {
	g := make([]float64, 1<<t.D)
	var terms [MaxFree]float64
	for a := 1; a < len(g); a++ {
		n := 0
		for rest := a; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros(uint(rest))
			from := a &^ (1 << i)
			terms[n] = g[from] + t.LogMu[from*t.D+i]
			n++
		}
		g[a] = logSum(terms[:n]) - math.Log(float64(t.D-n+1))
	}
	return -g[len(g)-1]
}

// Grid returns −log P of Euler, Tweedie or τ-leaping on a grid, exactly, by one pass over pairs of
// subsets per step. A pass takes 3^d products.
func (t *Table) Grid(s schedule.Steps) GridLaw {
	law, _ := gridLaw(t.D, s, t.always)
	return law
}

// always returns the table for every step of a network without time.
func (t *Table) always(int) (*Table, error) { return t, nil }

// logSum returns log Σ e^x, −Inf if all x are −Inf or there are none.
func logSum(x []float64) float64 {
	if len(x) == 0 {
		return math.Inf(-1)
	}
	return floats.LogSumExp(x)
}

// NELBO returns the negative evidence lower bound L_∞ of the window, exactly:
//
//	Σ_{k=1}^d (1/k)·E_{M_k} Σ_{l∈M_k} −log μ^l(x_l | x outside M_k),
//
// M_k uniform among the subsets of k positions. It is at least [Table.FHS] for any rows, and +Inf
// if a row excludes its token.
func (t *Table) NELBO() float64 {
	weight := t.subsetWeights()
	var sum float64
	for a := range 1<<t.D - 1 {
		sum += weight[bits.OnesCount(uint(a))] * t.cost(a)
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

// Chain returns −log P of revealing the positions one by one, in a given order of the indices of
// Target.Free.
func (t *Table) Chain(order []int) float64 {
	var sum float64
	a := 0
	for _, i := range order {
		sum -= t.LogMu[a*t.D+i]
		a |= 1 << i
	}
	return sum
}

// LeftToRight returns −log P of revealing the positions from left to right.
func (t *Table) LeftToRight() float64 { return t.Chain(InOrder(t.D)) }
