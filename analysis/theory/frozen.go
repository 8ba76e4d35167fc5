package theory

import "math"

// ExactScoreRateIntegral is Theorem 1's integral for the paper's frozen rates and the exact
// posterior, on forward times theta falling from T to δ, data without MASK:
//
//	d·Σ_k [(e^(−θ_{k+1}) − e^(−θ_k))·(1+r_k) − r_k η_k],  r_k = 1/(e^θ_k − 1).
//
// It does not depend on q0 or the vocabulary: it prices time discretisation only.
func ExactScoreRateIntegral(d int, theta []float64) float64 {
	var s float64
	for k := range len(theta) - 1 {
		s += exactScoreStep(theta[k], theta[k+1])
	}
	return float64(d) * s
}

func exactScoreStep(theta, next float64) float64 {
	eta := theta - next
	rate := 1 / math.Expm1(theta)
	return math.Exp(-theta)*math.Expm1(eta)*(1+rate) - rate*eta
}
