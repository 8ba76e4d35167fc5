// Package spread implements planned samplers that reveal together positions that hardly depend on
// each other. For an ordered partition G_1, G_2, … of the free positions, each group revealed by
// one call, the error compared to the same order one position at a time is the total correlation of
// each group given the visible positions,
//
//	KL(P ‖ P̃) ≤ Σ_k E TC(G_k | x_k) ≈ Σ_k Σ_{i<j in G_k} I(i, j | x_k),
//
// a sum of pair interactions to first order ([Interactions]). Neighbours interact most. Random groups,
// such as those of parallel-fhs and of all grids, contain neighbours; those of dus do not, and spread
// chooses the groups of least predicted error for a number of calls.
package spread

import (
	"math"
	"slices"

	"mdmgen/samplers/plan"
)

// motion permutes ranks 0..d−1 of the free positions by a cyclic shift and a reflection, so that
// every position is equally likely to have each place of an order.
type motion struct {
	d, shift  int
	reflected bool
}

// drawn returns a uniform motion. The position of the first reveal is uniform, and so is the d-th
// power of the largest of d uniforms, which is independent of it.
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

// freeOf returns the free positions of a plan's Reveals in ascending order.
func freeOf(p *plan.Plan) []int {
	free := make([]int, len(p.Reveals))
	for i, r := range p.Reveals {
		free[i] = r.Position
	}
	slices.Sort(free)
	return free
}
