package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// UpperLimit returns a number that the mean of a distribution on 0..1 does not exceed with
// probability confidence. It is computed from independent samples in their order, and valid for any
// number of samples and any distribution: the betting bound of Waudby-Smith and Ramdas (Journal of
// the Royal Statistical Society B, 2024; arXiv 2010.09686). A mean m is rejected if
//
//	Π_i (1 + λ_i(m)·(m − x_i)) ≥ 1/(1−confidence),  λ_i(m) = min(λ_i, 3/(4(1−m))),
//
// which has probability at most 1 − confidence if the mean is m or more (Ville). λ_i is
// √(2·log(1/(1−confidence))/(n·σ²)), where σ² is the variance of the earlier samples, regularised
// by one sample of ½ with variance ¼. UpperLimit returns 1 if no mean is rejected, and panics on a
// sample outside 0..1.
func UpperLimit(x []float64, confidence float64) float64 {
	if confidence == 0 {
		confidence = DefaultConfidence
	}
	want := -math.Log1p(-confidence)
	bets := make([]float64, len(x))
	sum, squares := 0.5, 0.25
	for i, v := range x {
		if !(v >= 0 && v <= 1) {
			panic(fmt.Sprintf("estimate: a limit from the sample %v, which is not in 0..1", v))
		}
		bets[i] = math.Sqrt(2 * want * float64(i+1) / (float64(len(x)) * squares))
		sum += v
		mean := sum / float64(i+2)
		squares += (v - mean) * (v - mean)
	}
	refused := func(m float64) bool {
		var log float64
		for i, v := range x {
			log += math.Log1p(min(bets[i], 0.75/(1-m)) * (m - v))
		}
		return log >= want
	}
	// The product increases with m.
	low, high := 0.0, 1.0
	for range 60 {
		if mid := (low + high) / 2; refused(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// LowerLimit returns a number that the mean of a distribution on 0..∞ reaches or exceeds with
// probability confidence. It is computed from independent samples and valid for any number of
// samples and any distribution: rare large values that were not drawn only increase the mean. A
// mean m is rejected if
//
//	Σ_λ Π_i (1 + λ·(x_i/m − 1)) / 7 ≥ 1/(1−confidence),
//
// which has probability at most 1 − confidence if the mean is m or less (Markov). It panics on a
// negative sample.
func LowerLimit(x []float64, confidence float64) float64 {
	stakes := []float64{15. / 16, 3. / 4, 1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32}
	logs := make([]float64, len(stakes))
	want := math.Log(float64(len(stakes))) - math.Log1p(-confidence)
	greatest := 0.0
	for _, v := range x {
		if !(v >= 0) {
			panic(fmt.Sprintf("estimate: a limit from the sample %v, which is below 0", v))
		}
		greatest = max(greatest, v)
	}
	if math.IsInf(greatest, 1) {
		return greatest
	}
	// The sum decreases with m.
	low, high := 0.0, greatest
	for range 40 {
		m := (low + high) / 2
		for k, stake := range stakes {
			logs[k] = 0
			for _, v := range x {
				logs[k] += math.Log1p(stake * (v/m - 1))
			}
		}
		if floats.LogSumExp(logs) >= want {
			low = m
		} else {
			high = m
		}
	}
	return low
}
