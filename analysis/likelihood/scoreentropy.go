package likelihood

import "math"

// ScoreEntropy is the integrated denoising score entropy of a window,
//
//	∫_0^∞ E Σ_{l masked} [Σ_a s^l(a) − r·log s^l(x_l) + r·(log r − 1)] dt,  r = α/(1−α),
//
// computed from score values by quadrature over λ, dt = dλ/(1−λ), exactly over all states. The
// definition is from Lou et al., arXiv 2310.16834, and the paper.
type ScoreEntropy struct {
	// Raw uses the network's unnormalised scores s, Normalised uses s divided by Σ_a μ(a) and is
	// the NELBO. For logits both are the same.
	Raw, Normalised float64
	// Price is ∫ r·E Σ_l (c − 1 − log c) dt, c = Σ_a μ(a): Raw − Normalised. Nats.
	Price float64
	// Deviation is the greatest |c − 1| over all rows of the integral.
	Deviation float64
	// Error is the error of Raw as an [Integral], 0 for networks without time, whose integral is
	// exact. It does not decrease if the integral has no limit: if scores do not decrease like r as
	// t grows, as in an untrained network without ScaleBySigma.
	Error float64
}

// unresolved is the relative error above which an integral counts as not converged.
const unresolved = 1e-3

// Resolved reports whether Raw and Price are meaningful: with an error above a thousandth of the
// value, the limit is unknown and may not exist. Normalised has an error of its own, that of
// [TimedTable.NELBO].
func (s ScoreEntropy) Resolved() bool {
	return !math.IsNaN(s.Raw) && s.Error <= unresolved*max(1, math.Abs(s.Raw))
}

// ScoreEntropy integrates over λ with enough nodes to be exact. The table must have LogMass.
func (t *Table) ScoreEntropy() ScoreEntropy {
	rule := gauss(t.D/2 + 1) // degree d−1 in λ
	var out ScoreEntropy
	for j, lambda := range rule.nodes {
		out.add(t, lambda, rule.weights[j])
	}
	return out
}

// ScoreEntropy integrates at the nodes of the table, which must have LogMass.
func (t *TimedTable) ScoreEntropy() ScoreEntropy {
	var out ScoreEntropy
	out.Error = t.integral(func(rule quadrature, tables []*Table) float64 {
		var sum ScoreEntropy
		for j, lambda := range rule.nodes {
			sum.add(tables[j], lambda, rule.weights[j])
		}
		if len(rule.nodes) == len(t.tables) {
			out = sum
		}
		if t.costs != nil {
			return sum.Price
		}
		return sum.Raw
	}).Error
	if t.costs != nil {
		out.Normalised = t.entropy.NELBO()
		out.Raw = out.Normalised + out.Price
	}
	return out
}

// add adds the node λ with a weight.
func (s *ScoreEntropy) add(t *Table, lambda, weight float64) {
	r := (1 - lambda) / lambda
	logR := logRate(lambda)
	// The integrand over t is E Σ term, and over λ that divided by 1−λ. Since integrand has the
	// factor 1/λ, each summand is term/r.
	loss := func(sum, logScore float64) float64 { return scoreLoss(sum, logScore, r, logR) / r }
	s.Raw += weight * t.integrand(lambda, func(mu, mass float64) float64 {
		return loss(math.Exp(logR+mass), logR+mu+mass)
	})
	s.Normalised += weight * t.integrand(lambda, func(mu, _ float64) float64 {
		return loss(r, logR+mu)
	})
	s.Price += weight * t.integrand(lambda, func(_, mass float64) float64 {
		s.Deviation = max(s.Deviation, math.Abs(math.Expm1(mass)))
		return price(mass)
	})
}

// scoreLoss returns the denoising score entropy of one masked position, from Σ_a s(a), the
// logarithm of s at the true token, r and log r.
func scoreLoss(sum, logScore, r, logR float64) float64 {
	return sum - r*logScore + r*(logR-1)
}

// price returns c − 1 − log c for a row's mass c.
func price(logMass float64) float64 { return math.Expm1(logMass) - logMass }
