package laws

import (
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/expsum"
)

// Sum adds with compensation.
type Sum = estimate.Sum

// TV returns the total variation distance ½ Σ|p−q| of two distributions of equal length.
func TV(p, q []float64) float64 {
	var s Sum
	for i := range p {
		s.Add(math.Abs(p[i] - q[i]))
	}
	return s.Value() / 2
}

// KL returns Σ p log(p/q), in nats, +Inf if q excludes something that p allows. q may sum to less
// than 1.
func KL(p, q []float64) float64 { return KLFrom(p, NegLog(q)) }

// KLFrom returns [KL] from −log q, which does not underflow.
func KLFrom(p, costs []float64) float64 {
	var s Sum
	for i, cost := range costs {
		if p[i] > 0 {
			s.Add(p[i] * (math.Log(p[i]) + cost))
		}
	}
	return s.Value()
}

// CrossEntropy returns −Σ p log q, in nats, +Inf if q excludes something that p allows.
func CrossEntropy(p, q []float64) float64 {
	var s Sum
	for i := range p {
		if p[i] > 0 {
			s.Add(-p[i] * math.Log(q[i]))
		}
	}
	return s.Value()
}

// Entropy returns −Σ p log p, in nats.
func Entropy(p []float64) float64 { return CrossEntropy(p, p) }

// Correlations returns the total correlation Σ_l H(x_l) − H(x) and the dual total correlation
// H(x) − Σ_l H(x_l|others) of a distribution p [V^D] over sequences, in nats.
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

// NegLog returns −log of each entry, +Inf at 0.
func NegLog(p []float64) []float64 {
	out := make([]float64, len(p))
	for i, x := range p {
		out[i] = -expsum.Log(x, 0)
	}
	return out
}

// bregman returns μ − p − p·log(μ/p), given cost = −log μ: one token's part of the score entropy
// over r(t). It is 0 iff μ = p, μ for p = 0 and +Inf for μ = 0 < p. It does not cancel for μ ≈ p,
// which would show in a square root of the loss.
func bregman(mu, cost, p float64) float64 {
	if p == 0 {
		return mu
	}
	if mu < p/2 || mu > 2*p {
		return mu - p + p*(cost+math.Log(p)) // μ/p is lost next to 1, or overflows
	}
	x := (mu - p) / p
	return p * (x - math.Log1p(x))
}
