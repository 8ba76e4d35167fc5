// Package subset computes the probability that a sampler with a plan reveals a text, from the
// network's rows on all subsets of visible positions. Which positions are revealed when does not
// depend on the network, so the probability is a sum over ordered partitions of the positions, and
// a recursion over subsets computes it. A subset of d positions is a bit set: position i is visible
// if bit i is set. Values are logarithms, since probabilities of texts may be of any magnitude.
package subset

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"
)

// MaxFree is the greatest number of free positions of an exact value: 65,536 network rows, and 43
// million products per step of a grid.
const MaxFree = 16

// Table holds a text's log-probabilities for all subsets of its free positions. It does not change
// and may be shared.
type Table struct {
	// D is the number of free positions, at most [MaxFree].
	D int
	// LogMu[A·D+i] is log μ^i(x_i | x_A) in nats for i not in A, −Inf for probability 0; it is 0
	// for i in A.
	LogMu []float64
}

// row returns log μ^i(x_i | x_A) by i.
func (t *Table) row(a int) []float64 { return t.LogMu[a*t.D : (a+1)*t.D] }

// Rows returns the number of network rows of a table: one for each subset that leaves a position
// masked.
func (t *Table) Rows() int { return 1<<t.D - 1 }

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
		g[a] = LogSum(terms[:n]) - math.Log(float64(t.D-n+1))
	}
	return -g[len(g)-1]
}

// Groups returns −log P of positions in uniform order, cut into groups of the given sizes, whose
// tokens are independent. Groups of one are FHS.
func (t *Table) Groups(sizes []int) float64 {
	if len(sizes) == t.D {
		return t.FHS()
	}
	r := newRecursion(t.D)
	for _, size := range sizes {
		r.call(t, uniform(size))
	}
	return -r.whole()
}

// Along returns −log P of a path that reveals groups of positions, given by their indices, one
// after another.
func (t *Table) Along(groups [][]int) float64 {
	var sum float64
	a := 0
	for _, group := range groups {
		next := a
		for _, i := range group {
			sum -= t.LogMu[a*t.D+i]
			next |= 1 << i
		}
		a = next
	}
	return sum
}

// Chain returns −log P of revealing the positions one by one, in a given order of their indices.
func (t *Table) Chain(order []int) float64 {
	groups := make([][]int, len(order))
	for k := range order {
		groups[k] = order[k : k+1]
	}
	return t.Along(groups)
}

// LogSum returns log Σ e^x, −Inf if all x are −Inf or there are none.
func LogSum(x []float64) float64 {
	if len(x) == 0 {
		return math.Inf(-1)
	}
	return floats.LogSumExp(x)
}
