package profile

import (
	"mdmgen/samplers/schedule"
)

// Falling returns a non-increasing profile in nats, one value a count: the nearest to Means in
// least squares, each j weighing as many draws as it has and missing ones as one; smoothed
// where that predicts windows better: see [Set.Smoothed].
func (s *Set) Falling() []float64 {
	c := s.monotone()
	if s.Smoothed() {
		return smooth(c)
	}
	return c
}

// Smoothed reports whether Falling is smoothed. A schedule is made of a few of the c_j, and the
// best of noisy ones are those that noise has put low. Whether noise is what matters is found
// out by the windows, every second of which is predicted from the others.
func (s *Set) Smoothed() bool {
	halves := s.halves()
	even, odd := halves[0], halves[1]
	a, b := even.monotone(), odd.monotone()
	plain := odd.misses(a) + even.misses(b)
	return odd.misses(smooth(a))+even.misses(smooth(b)) < plain
}

// monotone is the non-increasing profile nearest to Means.
func (s *Set) monotone() []float64 {
	weights := make([]float64, s.d)
	for j, n := range s.draws {
		weights[j] = max(n, 1)
	}
	out := schedule.Monotone(s.Means(), weights)
	for j, v := range out {
		out[j] = max(v, 0) // A loss of rounding alone can be below.
	}
	return out
}

// misses is the sum of squares by which draws' means are from a profile.
func (s *Set) misses(c []float64) (sum float64) {
	for j, n := range s.draws {
		if s.has(j) {
			miss := s.sums[j]/n - c[j]
			sum += n * miss * miss
		}
	}
	return sum
}

// smooth takes c to the loss at masked fractions λ = 1 − j/(d−1): the Bernstein polynomial
// of c. It averages over about √(j(1−j/d)) neighbours, few at the ends, where losses bend
// most; what falls stays falling, both ends stay as they are, and so do straight lines.
func smooth(c []float64) []float64 {
	out := make([]float64, len(c))
	n := len(c) - 1
	for j := range out {
		out[j] = c[j]
		if j > 0 && j < n {
			out[j] = schedule.LossCurve(c, float64(n-j)/float64(n))
		}
	}
	return schedule.Monotone(out, nil) // Rounding can raise what is level.
}
