package theory

import "math"

// A Count is the least number of steps that brings a distance to a target.
type Count struct {
	N int
	// At and Before are the distances with N and with N−1 steps; Before is +Inf for N = 1.
	At, Before float64
}

// maxCount bounds a search.
const maxCount = 1 << 30

// LeastSteps finds the least n with distance(n) ≤ target, for a distance that falls
// with n, from a guess. Distances behave like powers of n, so that a secant in
// logarithms needs few of them. It returns N = 0 where there is none below 2^30.
func LeastSteps(distance func(n int) float64, target float64, guess int) Count {
	// lo is too few; hi is enough, 0 while unknown.
	lo, hi := 0, 0
	atLo, atHi := math.Inf(1), 0.0
	n := max(guess, 1)
	for stride := 1; hi == 0 || hi-lo > 1; stride *= 2 {
		value := distance(n)
		if value <= target {
			hi, atHi = n, value
		} else {
			lo, atLo = n, value
		}
		switch {
		case hi == 0:
			if lo >= maxCount {
				return Count{}
			}
			// As if it fell like n^(−1/2) at least, and doubling.
			n = min(lo+max(stride, int(float64(lo)*min(value/target-1, 1))), maxCount)
		case lo == 0:
			n = max(hi-max(stride, int(float64(hi)*(1-max(value/target, 0.5)))), 1)
			if hi == 1 {
				return Count{N: 1, At: atHi, Before: atLo}
			}
		default:
			n = between(lo, hi, atLo, atHi, target)
			// Next to an end, step away from it by growing strides.
			if value <= target {
				n = min(n, hi-stride)
			} else {
				n = max(n, lo+stride)
			}
			if n <= lo || n >= hi {
				n, stride = lo+(hi-lo)/2, 1
			}
		}
	}
	return Count{N: hi, At: atHi, Before: atLo}
}

// between interpolates log distance against log n.
func between(lo, hi int, atLo, atHi, target float64) int {
	if !(atHi > 0) || math.IsInf(atLo, 1) {
		return lo + (hi-lo)/2
	}
	x := math.Log(atLo/target) / math.Log(atLo/atHi)
	return int(math.Round(float64(lo) * math.Pow(float64(hi)/float64(lo), x)))
}
