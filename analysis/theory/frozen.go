package theory

import (
	"math"

	"mdmgen/analysis/estimate"
)

// ExactScoreRateIntegral is Theorem 1's integral for the paper's frozen rates and the exact
// posterior, on forward times theta falling from T to δ, data without MASK:
//
//	d·Σ_k [(e^(−θ_{k+1}) − e^(−θ_k))·(1+r_k) − r_k η_k] = d·Σ_k r_k (e^η_k − 1 − η_k),  r_k = 1/(e^θ_k − 1).
//
// It does not depend on q0 or the vocabulary: it prices time discretisation only.
func ExactScoreRateIntegral(d int, theta []float64) float64 {
	var sum estimate.Sum
	for k := range len(theta) - 1 {
		sum.Add(Expm2(theta[k]-theta[k+1]) / math.Expm1(theta[k]))
	}
	return float64(d) * sum.Value()
}

// Expm2 is e^x − 1 − x, x ≥ 0, without cancelling at small x.
func Expm2(x float64) float64 {
	if x > 0.5 {
		return math.Expm1(x) - x
	}
	term, sum := x*x/2, 0.0
	for n := 3.0; term > 1e-18*sum; n++ {
		sum += term
		term *= x / n
	}
	return sum
}

// InitialTV is TV(q_T, all-mask) = 1−(1−e^(−T))^d for data without MASK (Lemma 3).
func InitialTV(d int, t float64) float64 {
	return -math.Expm1(float64(d) * math.Log1p(-math.Exp(-t)))
}
