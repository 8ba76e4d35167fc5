package oracle

import (
	"math"
	"testing"
)

// A stepCount is the least number of steps with which a distance is within a target.
type stepCount struct {
	N int
	// At and Before are the distances after N and N−1 steps; Before is +Inf for N = 1.
	At, Before float64
}

// mostSteps is the maximum of a search.
const mostSteps = 1 << 30

// leastSteps finds the least n with distance(n) ≤ target, for a distance that decreases in n,
// starting at a guess. Distances behave like powers of n, so that a secant in logarithms needs few
// evaluations. It returns N = 0 if there is no such n below 2^30.
func leastSteps(distance func(n int) float64, target float64, guess int) stepCount {
	// lo is too few; hi is enough, or 0 while unknown.
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
			if lo >= mostSteps {
				return stepCount{}
			}
			// Extrapolate as if it fell like 1/n, but add at most lo or the stride.
			n = min(lo+max(stride, int(float64(lo)*min(value/target-1, 1))), mostSteps)
		case lo == 0:
			n = max(hi-max(stride, int(float64(hi)*(1-max(value/target, 0.5)))), 1)
			if hi == 1 {
				return stepCount{N: 1, At: atHi, Before: atLo}
			}
		default:
			n = betweenLogs(lo, hi, atLo, atHi, target)
			// Next to an end, step away from it by increasing strides.
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
	return stepCount{N: hi, At: atHi, Before: atLo}
}

// betweenLogs interpolates log distance against log n.
func betweenLogs(lo, hi int, atLo, atHi, target float64) int {
	if !(atHi > 0) || math.IsInf(atLo, 1) {
		return lo + (hi-lo)/2
	}
	x := math.Log(atLo/target) / math.Log(atLo/atHi)
	return int(math.Round(float64(lo) * math.Pow(float64(hi)/float64(lo), x)))
}

// TestLeastSteps searches distances with known answers, from good and bad guesses.
func TestLeastSteps(t *testing.T) {
	for _, power := range []float64{0.3, 1, 2} {
		for _, want := range []int{1, 2, 3, 77, 4096, 1000003} {
			// Just below the target at want.
			distance := func(n int) float64 { return math.Pow(float64(want)-0.5, power) / math.Pow(float64(n), power) }
			for _, guess := range []int{0, 1, 5, 900, want, want + 1, 3000000} {
				calls := 0
				got := leastSteps(func(n int) float64 { calls++; return distance(n) }, 1, guess)
				if got.N != want || got.At != distance(want) || want > 1 && got.Before != distance(want-1) || want == 1 && !math.IsInf(got.Before, 1) {
					t.Errorf("power %v, guess %d: %+v, want N = %d", power, guess, got, want)
				}
				if calls > 80 {
					t.Errorf("power %v, guess %d, N = %d: %d calls", power, guess, want, calls)
				}
			}
		}
	}
	if got := leastSteps(func(int) float64 { return 2 }, 1, 10); got.N != 0 {
		t.Errorf("a constant distance needs %d steps", got.N)
	}
}
