package profile

import (
	"mdmgen/samplers/schedule"
)

// NonIncreasing returns a non-increasing profile in nats, one value per count: the one nearest to Means
// in least squares, where each j is weighted by its draws and missing ones by one. It is smoothed
// if that predicts windows better: see [Set.Smoothed].
func (s *Set) NonIncreasing() []float64 {
	c := s.monotone()
	if s.Smoothed() {
		return smooth(c)
	}
	return c
}

// Smoothed reports whether Falling is smoothed. A schedule uses a few of the c_j, and the best of
// noisy ones are those that noise has lowered. To decide, every second window is predicted from the
// others.
func (s *Set) Smoothed() bool {
	halves := s.halves()
	even, odd := halves[0], halves[1]
	a, b := even.monotone(), odd.monotone()
	plain := odd.misses(a) + even.misses(b)
	return odd.misses(smooth(a))+even.misses(smooth(b)) < plain
}

// monotone returns the non-increasing profile nearest to Means.
func (s *Set) monotone() []float64 {
	weights := make([]float64, s.d)
	for j, n := range s.draws {
		weights[j] = max(n, 1)
	}
	out := schedule.Monotone(s.Means(), weights)
	for j, v := range out {
		out[j] = max(v, 0) // Rounding can take a loss below 0.
	}
	return out
}

// misses returns the sum of squared deviations of the draws' means from a profile.
func (s *Set) misses(c []float64) (sum float64) {
	for j, n := range s.draws {
		if s.has(j) {
			miss := s.sums[j]/n - c[j]
			sum += n * miss * miss
		}
	}
	return sum
}

// smooth replaces c by its Bernstein polynomial, the loss at masked fractions λ = 1 − j/(d−1). It
// averages over about √(j(1−j/d)) neighbours, few at the ends, where losses bend most. It preserves
// monotonicity, both ends and straight lines.
func smooth(c []float64) []float64 {
	out := make([]float64, len(c))
	n := len(c) - 1
	for j := range out {
		out[j] = c[j]
		if j > 0 && j < n {
			out[j] = schedule.LossCurve(c, float64(n-j)/float64(n))
		}
	}
	return schedule.Monotone(out, nil) // Rounding can raise a level part.
}
