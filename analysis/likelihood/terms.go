package likelihood

import (
	"math/bits"
	"slices"

	"mdmgen/analysis/profile"
)

// HasTerms reports whether a form's draws give the per-count terms of the NELBO: whether its masked
// sets are uniform among the sets of their size, with rows at the times at which FHS has them.
func (f Form) HasTerms() bool { return f == Subsets || f == Orders || f == "" }

// terms sums the answers of a window by the number of visible positions; each row counts once, by
// its mean.
func terms(d int, asks []Ask) *profile.Terms {
	draws, sums := make([]int, d), make([]float64, d)
	for _, a := range asks {
		visible := d - len(a.Masked)
		var sum float64
		for _, v := range a.LogMu {
			sum -= v
		}
		draws[visible]++
		sums[visible] += sum / float64(len(a.LogMu))
	}
	out := profile.NewTerms(draws, sums)
	return &out
}

// Terms returns the per-count terms of the NELBO, exactly: for each j, the mean of −log μ over all
// sets of j visible positions and all positions outside. They sum to [Table.NELBO].
func (t *Table) Terms() profile.Terms {
	weight := t.subsetWeights()
	sums := make([]float64, t.D)
	for a := range 1<<t.D - 1 {
		visible := bits.OnesCount(uint(a))
		sums[visible] += weight[visible] * t.cost(a)
	}
	return profile.NewTerms(slices.Repeat([]int{1}, t.D), sums)
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
