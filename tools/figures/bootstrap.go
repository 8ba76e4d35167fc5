package main

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
)

// bootstrap estimates a statistic of independent samples by resampling them with replacement: of is
// called with indices in 0..n−1, repeated as drawn, and must not keep them. The interval is between
// percentiles; SE is the standard deviation of the resampled values. The first call has every index once
// and gives Mean.
func bootstrap(n, resamples int, seed uint64, of func(indices []int) float64) estimate.Estimate {
	indices := likelihood.InOrder(n)
	e := estimate.Estimate{Mean: of(indices), Confidence: estimate.DefaultConfidence, N: n, Units: n}
	r := rand.New(rand.NewPCG(seed, 0))
	values := make([]float64, resamples)
	for b := range values {
		for i := range indices {
			indices[i] = r.IntN(n)
		}
		values[b] = of(indices)
	}
	slices.Sort(values)
	percentile := func(p float64) float64 {
		at := p * float64(resamples-1)
		i := min(int(at), resamples-2)
		return values[i] + (at-float64(i))*(values[i+1]-values[i])
	}
	e.SE, e.Lo, e.Hi = stat.StdDev(values, nil), percentile((1-e.Confidence)/2), percentile((1+e.Confidence)/2)
	return e
}
