package main

import (
	"math/rand/v2"
	"testing"
)

// TestBootstrap counts the intervals of a mean of 64 samples that hold the truth. Percentile intervals of
// so few are known to be slightly short of 95 %.
func TestBootstrap(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for range 1000 {
		var x [64]float64
		for i := range x {
			x[i] = r.Float64() + r.Float64()
		}
		e := bootstrap(len(x), 200, r.Uint64(), func(at []int) (mean float64) {
			for _, i := range at {
				mean += x[i] / float64(len(x))
			}
			return mean
		})
		if e.Lo <= 1 && 1 <= e.Hi {
			covered++
		}
	}
	if covered < 915 || covered > 970 {
		t.Errorf("%d of 1000 intervals cover", covered)
	}
}
