package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Ratio estimates Σ sums / Σ weights, such as nats per token over windows, with the linearised
// variance of a ratio, computed from sums − ratio·weights. Units are the entries or, if cluster is
// not nil, the groups of entries with the same number in it, such as windows that overlap or come
// from one document. It panics if the lengths differ.
func Ratio(sums, weights []float64, cluster []int, confidence float64) Estimate {
	if len(sums) != len(weights) || cluster != nil && len(cluster) != len(sums) {
		panic(fmt.Sprintf("estimate: %d sums, %d weights, %d clusters", len(sums), len(weights), len(cluster)))
	}
	var top, bottom float64
	for i := range sums {
		top += sums[i]
		bottom += weights[i]
	}
	mean := top / bottom
	residuals := make([]float64, 0, len(sums))
	at := make(map[int]int)
	for i := range sums {
		r := sums[i] - mean*weights[i]
		if cluster == nil {
			residuals = append(residuals, r)
			continue
		}
		j, ok := at[cluster[i]]
		if !ok {
			j = len(residuals)
			at[cluster[i]] = j
			residuals = append(residuals, 0)
		}
		residuals[j] += r
	}
	units := len(residuals)
	var ss float64
	for _, r := range residuals {
		ss += r * r
	}
	n := float64(units)
	return finish(mean, math.Sqrt(ss*n/(n-1))/bottom, len(sums), units, n-1, confidence)
}

// SkewedRatio is Ratio of unclustered sums with the interval widened as by [Skewed]. Over 16 texts of
// small worlds 95 % intervals of an audit's KL cover 91 to 99 %, those of Ratio 79 to 95 %.
func SkewedRatio(sums, weights []float64, confidence float64) Estimate {
	e := Ratio(sums, weights, nil, confidence)
	var greatest, bottom float64
	for i, w := range weights {
		greatest = max(greatest, math.Abs(sums[i]-e.Mean*w))
		bottom += w
	}
	if !math.IsInf(e.SE, 1) {
		wider := 2 * greatest * math.Log(2/(1-e.Confidence)) / (3 * bottom)
		e.Lo, e.Hi = e.Lo-wider, e.Hi+wider
	}
	return e
}

// Bootstrap estimates a statistic of independent samples by resampling them with replacement: stat
// is called with indices in 0..n−1, repeated as drawn, and must not keep them. The interval is
// between percentiles; SE is the standard deviation of the resampled values. The first call of stat
// has every index once and gives Mean.
func Bootstrap(n, resamples int, seed uint64, confidence float64, stat func(indices []int) float64) Estimate {
	if confidence == 0 {
		confidence = DefaultConfidence
	}
	indices := make([]int, n)
	for i := range indices {
		indices[i] = i
	}
	if n < 2 || resamples < 2 {
		mean := math.NaN()
		if n > 0 {
			mean = stat(indices)
		}
		return finish(mean, math.Inf(1), n, n, 0, confidence)
	}
	mean := stat(indices)
	r := rand.New(rand.NewPCG(seed, 0))
	values := make([]float64, resamples)
	for b := range values {
		for i := range indices {
			indices[i] = r.IntN(n)
		}
		values[b] = stat(indices)
	}
	_, ss := moments(values)
	e := finish(mean, math.Sqrt(ss/float64(resamples-1)), n, n, float64(n-1), confidence)
	slices.Sort(values)
	if !math.IsInf(e.SE, 1) {
		e.Lo, e.Hi = percentile(values, (1-confidence)/2), percentile(values, (1+confidence)/2)
	}
	return e
}

// percentile interpolates between sorted values.
func percentile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
