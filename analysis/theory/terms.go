package theory

import "math"

// Terms are those of an upper bound on TV with all constants taken as 1: the
// theorems hide constants, so the sum is not a bound.
type Terms struct{ Initial, Score, Discretisation, EarlyStopping float64 }

// Sum adds the terms.
func (t Terms) Sum() float64 { return t.Initial + t.Score + t.Discretisation + t.EarlyStopping }

// Theorem2 is d·e^(−T) + √ε_score + κ·d·S·(1−e^(−T)+log 1/δ) + d·δ, S counting MASK; score is √ε_score, for
// which L_TV may be taken. It is infinite at δ = 0.
func Theorem2(d, s int, t, delta, kappa, score float64) Terms {
	return Terms{
		Initial: float64(d) * math.Exp(-t), Score: score,
		Discretisation: kappa * float64(d*s) * (-math.Expm1(-t) - math.Log(delta)),
		EarlyStopping:  float64(d) * delta,
	}
}

// Corollary1 is d·e^(−T) + √ε_score + κ·d·S·(1−e^(−T)+γ^(−1/2)), for data with MASK and γ = γ(q0), constant steps
// and no early stopping.
func Corollary1(d, s int, t, kappa, gamma, score float64) Terms {
	return Terms{
		Initial: float64(d) * math.Exp(-t), Score: score,
		Discretisation: kappa * float64(d*s) * (-math.Expm1(-t) + 1/math.Sqrt(gamma)),
	}
}

// EarlyStoppingTV is TV(q0, q_δ) = 1−e^(−dδ) for data without MASK.
func EarlyStoppingTV(d int, delta float64) float64 { return -math.Expm1(-float64(d) * delta) }
