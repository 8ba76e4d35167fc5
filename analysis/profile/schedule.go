package profile

import (
	"slices"

	"mdmgen/analysis/estimate"
)

// weights returns the weights of c in the excess of blocks of such sizes: their expected path loss
// is Σ_j (weights[j]+1)·c_j. They sum to 0; sizes sum to d.
func weights(sizes []int, d int) []float64 {
	out := slices.Repeat([]float64{-1}, d)
	at := 0
	for _, n := range sizes {
		out[at] += float64(n)
		at += n
	}
	return out
}

// Excess estimates what blocks of such sizes cost more than one position a call, in nats a
// sequence: E_plan[Σ −log μ] − Σ_j c_j. See [schedule.BestSizes] for what it bounds.
func (s *Set) Excess(sizes []int, confidence float64) estimate.Estimate {
	return s.Sum(weights(sizes, s.d), confidence)
}

// Gain estimates the excess of some sizes less that of others, in nats a sequence, in
// pairs over the windows: below 0 where the first are better.
func (s *Set) Gain(first, second []int, confidence float64) estimate.Estimate {
	all := weights(first, s.d)
	for j, w := range weights(second, s.d) {
		all[j] -= w
	}
	return s.Sum(all, confidence)
}
