package theory

import "math"

// InitialTV returns TV(q_T, all-mask) = 1−(1−e^(−T))^d for data without MASK (Lemma 3).
func InitialTV(d int, t float64) float64 {
	return -math.Expm1(float64(d) * math.Log1p(-math.Exp(-t)))
}
