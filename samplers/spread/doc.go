// Package spread has planned samplers that reveal positions together which hardly depend on each
// other. Over an ordered partition G_1, G_2, … of the free positions, of which each group is
// revealed by one call, the error against the same order one position at a time is the total
// correlation of each group given what is visible,
//
//	KL(P ‖ P̃) ≤ Σ_k E TC(G_k | x_k) ≈ Σ_k Σ_{i<j in G_k} I(i, j | x_k),
//
// a sum of pair interactions to first order ([Interactions]). Neighbours interact most. Random
// groups, as those of parallel-fhs and of all grids, hold neighbours; those of dilated, bisection
// and apart do not, and spread chooses groups of least predicted error for a number of calls.
package spread

import (
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/plan"
)

// motion takes ranks 0..d−1 of the free positions to others by a cyclic shift and a reflection, so
// that every position is equally likely to have each place of an order.
type motion struct {
	d, shift  int
	reflected bool
}

// drawn is a uniform motion: the position of the first reveal is uniform, and so is the largest of
// d uniforms to the power of d, which is independent of it.
func drawn(p *plan.Plan, free []int) motion {
	d := len(free)
	if d == 0 {
		return motion{}
	}
	first := p.Reveals[0]
	return motion{d, slices.Index(free, first.Position), math.Pow(first.U, float64(d)) < 0.5}
}

func (m motion) of(rank int) int {
	if m.reflected {
		rank = m.d - 1 - rank
	}
	return (rank + m.shift) % m.d
}

// freeOf are the free positions of a plan's Reveals, ascending.
func freeOf(p *plan.Plan) []int {
	free := make([]int, len(p.Reveals))
	for i, r := range p.Reveals {
		free[i] = r.Position
	}
	slices.Sort(free)
	return free
}

// cut cuts an order into groups of the sizes.
func cut(order, sizes []int) [][]int {
	groups := make([][]int, len(sizes))
	for i, n := range sizes {
		groups[i], order = order[:n:n], order[n:]
	}
	return groups
}

// law is that of plans whose order is not uniform.
var law = samplers.Law{Fixed: true, Clock: samplers.AtCount}
