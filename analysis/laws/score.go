package laws

import (
	"math"
	"slices"
)

// ScoreEntropy returns the paper's loss L_SE(s;t) of the scores s = r(t)·μ,
//
//	L_SE = E_{x∼q_t} Σ_{y≠x} R(y,x)·(s − c − c·log(s/c)),  c = q_t(y)/q_t(x) = r(t)·q0^l(a|x^UM),
//
// over all states; +Inf if μ excludes a token that q0 allows.
func (w *World) ScoreEntropy(t float64) float64 {
	return Rate(t) * w.scoreError(math.Exp(-t), lambdaAt(t), bregman)
}

// RateError returns E_{x∼q_t} Σ_{y≠x} R(y,x)·|s_t(y,x) − q_t(y)/q_t(x)|.
func (w *World) RateError(t float64) float64 {
	return Rate(t) * w.scoreError(math.Exp(-t), -math.Expm1(-t), func(mu, _, p float64) float64 { return math.Abs(mu - p) })
}

// scoreError returns E_{x∼q_t} Σ_{l masked} Σ_a f(μ^l(a), −log μ^l(a), q0^l(a|x^UM)).
func (w *World) scoreError(alpha, lambda float64, f func(mu, cost, p float64) float64) float64 {
	rows, costs := w.Rows(lambda), w.costs(lambda)
	var s Sum
	for x := range w.States {
		weight := w.Mass[x] * mixture(w.D, w.masks[x], alpha, lambda)
		if weight == 0 {
			continue
		}
		w.EachMasked(x, func(l int) {
			p, cost := w.Row(w.posterior, x, l), w.Row(costs, x, l)
			for a, mu := range w.Row(rows, x, l) {
				s.Add(weight * f(mu, cost[a], p[a]))
			}
		})
	}
	return s.Value()
}

// Proposition2 holds the sides of the identity
//
//	∫_0^∞ L_SE dt = E[L_∞] − Σ_k (1/k) E_{x0,M_k} Σ_{l∈M_k} H(q0^l(·|x0^{M_k^c})).
//
// The sum is H(q0), by the chain rule averaged over orders.
type Proposition2 struct {
	// ScoreEntropyIntegral is the left side, by quadrature of the definition in t.
	ScoreEntropyIntegral float64
	EntropySum           float64
	// EntropyTermsByK [D] are the terms of EntropySum, k = 1 first.
	EntropyTermsByK []float64
}

// Proposition2 computes the integral and the sum independently.
func (w *World) Proposition2() Proposition2 {
	out := Proposition2{EntropyTermsByK: make([]float64, w.D)}
	var entropy Sum
	for k := range out.EntropyTermsByK {
		out.EntropyTermsByK[k] = w.subsetSum(k+1, func(x, l, a int) float64 {
			return -math.Log(w.posterior[(x*w.D+l)*w.V+a])
		})
		entropy.Add(out.EntropyTermsByK[k])
	}
	out.ScoreEntropyIntegral = overHalfLine.integral(w.p, func(t, _ float64) float64 { return w.ScoreEntropy(t) })
	out.EntropySum = entropy.Value()
	return out
}

// Theorem4 holds the sides of KL(q0‖P_FHS) ≤ ε″ = E[NELBO] − H(q0).
type Theorem4 struct{ KL, Epsilon float64 }

// Theorem4 computes both sides.
func (w *World) Theorem4(nelbo NELBO) Theorem4 {
	return Theorem4{KL: KLFrom(w.Q0, w.FHSCosts()), Epsilon: nelbo.Expected - Entropy(w.Q0)}
}

// Theorem5 describes a world as the construction of Theorem 5: q0 a point mass at A,
// μ^i = (1−ρ)δ_{A_i} + ρδ_{B_i}, for which KL(q0‖P_FHS) = ε″ = −d·log(1−ρ).
type Theorem5 struct {
	A, B []int
	// Rho is ρ, and Rest 1 − ρ.
	Rho, Rest float64
}

// Theorem5 recovers the construction from the tables; it returns false if the world is not one.
func (w *World) Theorem5() (Theorem5, bool) {
	var t Theorem5
	sequence := -1
	for i, q := range w.Q0 {
		if q == 1 {
			sequence = i
		}
	}
	if sequence < 0 || w.mu1 != nil {
		return t, false
	}
	for l, a := range w.Sequence(sequence) {
		b := -1
		for x, p := range w.Row(w.mu0, w.AllMask(), l) {
			if x == a {
				t.Rest = p
			} else if p > 0 {
				if b >= 0 || l > 0 && p != t.Rho {
					return t, false
				}
				b, t.Rho = x, p
			}
		}
		if b < 0 {
			return t, false
		}
		t.A, t.B = append(t.A, a), append(t.B, b)
	}
	same := true // for any visible tokens
	for x := range w.States {
		w.EachMasked(x, func(l int) { same = same && slices.Equal(w.Row(w.mu0, x, l), w.Row(w.mu0, w.AllMask(), l)) })
	}
	return t, same
}
