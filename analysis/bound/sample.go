package bound

import (
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

// unknown stands for a side of which only a bound is known.
func unknown() report.Value {
	return of(estimate.Estimate{Mean: math.NaN(), Lo: math.Inf(-1), Hi: math.Inf(1)})
}

// of is an estimate as a value.
func of(e estimate.Estimate) report.Value {
	return report.Value{Estimate: e}
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
