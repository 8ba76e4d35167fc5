package laws

import (
	"math"

	"mdmgen/analysis/estimate"
)

// Sum adds with compensation.
type Sum = estimate.Sum

// TV is the total variation distance ½ Σ|p−q| of laws of one length.
func TV(p, q []float64) float64 {
	var s Sum
	for i := range p {
		s.Add(math.Abs(p[i] - q[i]))
	}
	return s.Value() / 2
}

// KL is Σ p log(p/q), in nats, +Inf where q excludes what p allows. q may sum to
// less than 1.
func KL(p, q []float64) float64 {
	var s Sum
	for i := range p {
		if p[i] > 0 {
			s.Add(p[i] * math.Log(p[i]/q[i]))
		}
	}
	return s.Value()
}

// CrossEntropy is −Σ p log q, in nats, +Inf where q excludes what p allows.
func CrossEntropy(p, q []float64) float64 {
	var s Sum
	for i := range p {
		if p[i] > 0 {
			s.Add(-p[i] * math.Log(q[i]))
		}
	}
	return s.Value()
}

// Entropy is −Σ p log p, in nats.
func Entropy(p []float64) float64 { return CrossEntropy(p, p) }

// Correlations are the total correlation Σ_l H(x_l) − H(x) and the dual one H(x) − Σ_l H(x_l|others) of a
// law p [V^D] over sequences, in nats.
func (s Space) Correlations(p []float64) (total, dual float64) {
	joint := Entropy(p)
	total, dual = -joint, joint
	for l := range s.D {
		one, others := make([]float64, s.V), make([]float64, len(p)) // by token l, and by the others in base V
		for i, q := range p {
			index := 0
			for k, token := range s.Sequence(i) {
				if k == l {
					one[token] += q
				} else {
					index = index*s.V + token
				}
			}
			others[index] += q
		}
		total += Entropy(one)
		dual -= joint - Entropy(others) // H(x_l|others)
	}
	return total, dual
}

// NegLog is −log of each entry, +Inf at 0.
func NegLog(p []float64) []float64 {
	out := make([]float64, len(p))
	for i, x := range p {
		out[i] = -math.Log(x)
	}
	return out
}

// bregman is μ − p − p·log(μ/p), cost being −log μ, one token's part of the score entropy over r(t): 0
// iff μ = p, μ for p = 0, +Inf for μ = 0 < p. It does not cancel where μ ≈ p, which a
// square root of the loss would show.
func bregman(mu, cost, p float64) float64 {
	if p == 0 {
		return mu
	}
	if mu < p/2 {
		return mu - p + p*(cost+math.Log(p)) // μ/p is lost beside 1
	}
	x := (mu - p) / p
	return p * (x - math.Log1p(x))
}
