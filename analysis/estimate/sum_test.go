package estimate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"mdmgen/analysis/estimate"
)

// TestRatios checks that incremental entries give the same result as [estimate.Ratio], also if the
// ratio is much greater than its spread, and if all entries are equal.
func TestRatios(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		n, group int
		entry    func(i int) (sum, weight float64)
	}{
		"alone":    {500, 0, func(int) (float64, float64) { w := 1 + float64(r.IntN(128)); return 3*w + r.NormFloat64(), w }},
		"clusters": {500, 7, func(int) (float64, float64) { return 400 + r.NormFloat64(), 128 }},
		"narrow":   {500, 0, func(int) (float64, float64) { return 1e9 + r.NormFloat64(), 1 }},
		"alike":    {50, 0, func(int) (float64, float64) { return 0.3, 3 }},
		"one":      {1, 0, func(int) (float64, float64) { return 2, 3 }},
		"none":     {0, 0, nil},
		"infinite": {4, 0, func(i int) (float64, float64) { return math.Inf(i % 2), 1 }},
	} {
		var s estimate.Ratios
		var sums, weights []float64
		var clusters []int
		for i := range c.n {
			x, w := c.entry(i)
			if name == "infinite" && i != 2 {
				x = 1
			}
			cluster := 0
			if c.group > 0 {
				cluster = i / c.group
				clusters = append(clusters, cluster)
			}
			s.Add(x, w, cluster, c.group > 0)
			sums, weights = append(sums, x), append(weights, w)
		}
		got, want := s.Estimate(0), estimate.Ratio(sums, weights, clusters, 0)
		same := func(a, b float64) bool {
			return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*math.Abs(b)
		}
		if !same(got.Mean, want.Mean) || !same(got.SE, want.SE) && math.Abs(got.SE-want.SE) > 1e-7*math.Abs(want.Mean) || got.N != want.N || got.Units != want.Units || len(got.Warnings) != len(want.Warnings) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
