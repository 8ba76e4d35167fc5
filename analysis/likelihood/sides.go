package likelihood

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"mdmgen/analysis/estimate"
	"mdmgen/samplers/subset"
)

// The lower side of a bound: E[−log p̂_K] is only an upper bound on −log P.

const (
	// maxSpread is the greatest variance of log path probabilities for which a lower side is
	// computed. At K = 64, its nominal one-sided 95 % intervals cover 87, 74 and 57 % for standard
	// deviations of 1, 2 and 3.
	maxSpread = 0.2
	// minPaths is the least number of paths that estimate this variance.
	minPaths = 32
)

// Lower is a lower bound on −log P of a sampler, or the reason why there is none.
type Lower struct {
	// Estimate estimates E[1 − log ψ − p̂/ψ] ≤ −log P, where ψ is the mean of half the paths and p̂
	// of the others, with an interval of −log P, open above; nil if there is a Reason.
	Estimate *estimate.Estimate `json:"estimate,omitempty"`
	Reason   string             `json:"reason,omitempty"`
	// Spread is the variance of the log path probabilities.
	Spread float64 `json:"spread"`
}

// lowerSide computes the bound from the costs −log p of independent paths.
func lowerSide(costs []float64, confidence float64) *Lower {
	n := len(costs)
	spread := stat.Variance(costs, nil)
	if n < minPaths {
		return &Lower{Reason: fmt.Sprintf("no lower side: %d paths are too few to estimate their spread: at least %d are needed", n, minPaths)}
	}
	if !(spread <= maxSpread) {
		out := &Lower{Reason: fmt.Sprintf("no lower side: log path probabilities have the variance %.3g, above %v, where its intervals fail", spread, maxSpread), Spread: spread}
		if math.IsNaN(spread) || math.IsInf(spread, 0) {
			out.Spread = 0
			out.Reason = "no lower side: a path cannot give the text"
		}
		return out
	}
	half := n / 2
	logs := slices.Clone(costs[:half])
	floats.Scale(-1, logs)
	logPsi := subset.LogSum(logs) - math.Log(float64(half))
	values := make([]float64, n-half)
	for i, c := range costs[half:] {
		values[i] = 1 - logPsi - math.Exp(-c-logPsi)
	}
	confidence = cmp.Or(confidence, estimate.DefaultConfidence)
	e := estimate.Mean(values, 2*confidence-1)
	if math.IsInf(e.Lo, -1) {
		return &Lower{Reason: "no lower side: " + e.Warnings[0], Spread: spread}
	}
	e.Hi, e.Confidence = math.Inf(1), confidence
	return &Lower{Estimate: &e, Spread: spread}
}
