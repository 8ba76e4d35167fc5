package theory

import "math"

// Terms holds the terms of an upper bound on TV with all constants set to 1. The theorems hide
// constants, so the sum is not a bound.
type Terms struct{ Initial, Score, Discretisation, EarlyStopping float64 }

// Sum returns the sum of the terms.
func (t Terms) Sum() float64 { return t.Initial + t.Score + t.Discretisation + t.EarlyStopping }

// Theorem2 returns the terms of d·e^(−T) + √ε_score + κ·d·S·(1−e^(−T)+log 1/δ) + d·δ, where S
// counts MASK; score is √ε_score, or L_TV in its place. The sum is infinite at δ = 0.
func Theorem2(d, s int, t, delta, kappa, score float64) Terms {
	return Terms{
		Initial: float64(d) * math.Exp(-t), Score: score,
		Discretisation: kappa * float64(d*s) * (-math.Expm1(-t) - math.Log(delta)),
		EarlyStopping:  float64(d) * delta,
	}
}

// Corollary1 returns the terms of d·e^(−T) + √ε_score + κ·d·S·(1−e^(−T)+γ^(−1/2)), for data with
// MASK, γ = γ(q0), constant steps and no early stopping.
func Corollary1(d, s int, t, kappa, gamma, score float64) Terms {
	return Terms{
		Initial: float64(d) * math.Exp(-t), Score: score,
		Discretisation: kappa * float64(d*s) * (-math.Expm1(-t) + 1/math.Sqrt(gamma)),
	}
}

// EarlyStoppingTV returns TV(q0, q_δ) = 1−e^(−dδ) for data without MASK.
func EarlyStoppingTV(d int, delta float64) float64 { return -math.Expm1(-float64(d) * delta) }
