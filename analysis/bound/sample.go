package bound

import (
	"math"

	"mdmgen/analysis/estimate"
)

// unknown stands for a side of which only a bound is known.
func unknown() Value {
	return Value{Mean: math.NaN(), Lo: math.Inf(-1), Hi: math.Inf(1)}
}

// of is an estimate as a value.
func of(e estimate.Estimate) Value {
	return Value{Mean: e.Mean, Lo: e.Lo, Hi: e.Hi, SE: e.SE, N: e.N, Confidence: e.Confidence}
}

// point is a value as a point of a plot, without a range where that has no ends.
func point(x float64, v Value) Point {
	p := Point{X: x, Y: v.Mean, Lo: v.Lo, Hi: v.Hi}
	if math.IsInf(v.Lo, 0) || math.IsInf(v.Hi, 0) {
		p.Lo, p.Hi = 0, 0
	}
	return p
}

// mean estimates a mean of samples, those with the same number in cluster being one
// unit; nil for independent ones.
func mean(x []float64, cluster []int, confidence float64) estimate.Estimate {
	ones := make([]float64, len(x))
	for i := range ones {
		ones[i] = 1
	}
	return estimate.Ratio(x, ones, cluster, confidence)
}
