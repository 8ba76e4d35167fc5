package likelihood

import (
	"math"
	"strings"
	"testing"
)

// TestLowerSide checks that the lower side, if given, is below −log P and close to it if paths
// agree, and that it is not given if paths are spread out or few.
func TestLowerSide(t *testing.T) {
	e := mustNew(t, noisy(t))
	spread := Whole([]int{1, 1, 1}) // its paths have log-variance 0.39
	got := one(t, e, spread, 0, Config{Form: Plans, Draws: 200, Seed: 1})
	if got.Lower == nil || got.Lower.Estimate != nil || !strings.Contains(got.Lower.Reason, "variance") {
		t.Errorf("spread-out paths: %+v", got.Lower)
	}
	near := Target{IDs: []int{1, 2, 3}, Free: []int{0, 2}}
	got = one(t, e, near, 0, Config{Form: Plans, Draws: 8, Seed: 1})
	if got.Lower.Estimate != nil || !strings.Contains(got.Lower.Reason, "8 paths") {
		t.Errorf("few paths: %+v", got.Lower)
	}
	exact := mustTable(t, e, near).FHS()
	covered := 0
	for seed := range uint64(200) {
		got = one(t, e, near, 0, Config{Form: Plans, Plans: 4, Draws: 32, Seed: seed})
		if got.Lower.Estimate == nil || !math.IsInf(got.Lower.Estimate.Hi, 1) || got.Lower.Estimate.Confidence != 0.95 {
			t.Fatalf("%+v", got.Lower)
		}
		if got.Lower.Estimate.Lo <= exact {
			covered++
		}
		if exact-got.Lower.Estimate.Mean > 0.2 {
			t.Errorf("seed %d: lower side %v, −log P is %v", seed, got.Lower.Estimate, exact)
		}
	}
	// Nominally 95 % of the lower ends are below.
	if covered < 185 {
		t.Errorf("%d of 200 lower ends are below −log P", covered)
	}
	if other := one(t, e, near, 0, Config{}); other.Lower != nil {
		t.Errorf("an estimate of the NELBO has a lower side: %+v", other.Lower)
	}
}
