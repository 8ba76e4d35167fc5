package estimate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// UpperLimit is a number that the mean of a law on 0..1 does not exceed with the probability
// confidence, from independent samples of it in their order, however few and of whatever
// law: the bound by betting of Waudby-Smith and Ramdas (Journal of the Royal Statistical
// Society B, 2024; arXiv 2010.09686). A mean m is refused where
//
//	Π_i (1 + λ_i(m)·(m − x_i)) ≥ 1/(1−confidence),  λ_i(m) = min(λ_i, 3/(4(1−m))),
//
// which at a mean of m or more has at most the probability 1 − confidence (Ville). λ_i is
// √(2·log(1/(1−confidence))/(n·σ²)), σ² the variance of the samples before, regularised by
// one of ½ with variance ¼. It is 1 where nothing is refused, and panics on a sample
// outside 0..1.
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
	// The product rises with m.
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

// LowerLimit is a number that the mean of a law on 0..∞ is at least with the probability
// confidence, from independent samples of it, however few and of whatever law: a great value that
// is rare, and was not drawn, makes the mean no smaller. A mean m is refused where
//
//	Σ_λ Π_i (1 + λ·(x_i/m − 1)) / 7 ≥ 1/(1−confidence),
//
// which at a mean of m or less has at most the probability 1 − confidence (Markov). It panics on
// a sample below 0.
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
	// The sum falls with m.
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
