package likelihood

import "math"

// ScoreEntropy is the integrated denoising score entropy of a window,
//
//	∫_0^∞ E Σ_{l masked} [Σ_a s^l(a) − r·log s^l(x_l) + r·(log r − 1)] dt,  r = α/(1−α),
//
// worked out from score values by quadrature over λ, dt = dλ/(1−λ), exactly over all
// states. The definition is that of Lou et al., arXiv 2310.16834; paper.
type ScoreEntropy struct {
	// Raw is that of the scores s as the network gives them, Normalised that of s
	// divided by Σ_a μ(a), which is the NELBO. For logits both are the same.
	Raw, Normalised float64
	// Price is ∫ r·E Σ_l (c − 1 − log c) dt, c = Σ_a μ(a): Raw − Normalised. Nats.
	Price float64
	// Deviation is the greatest |c − 1| of all rows that were integrated over.
	Deviation float64
	// Error is that of Raw as an [Integral], 0 for networks without time, whose integral is
	// exact. It does not fall where the integral has no limit: where scores do not fall
	// like r as t grows, as those of an untrained network without ScaleBySigma.
	Error float64
}

// unresolved is the share of the value above which an integral's error says that the
// quadrature does not converge, or not with these nodes.
const unresolved = 1e-3

// Resolved reports whether Raw and Price are numbers to be shown: with an error above a
// thousandth of them nothing is known of the limit, or that there is one. Normalised
// has an error of its own, which is that of [TimedTable.NELBO].
func (s ScoreEntropy) Resolved() bool {
	return !math.IsNaN(s.Raw) && s.Error <= unresolved*max(1, math.Abs(s.Raw))
}

// ScoreEntropy integrates over λ with as many nodes as make it exact. The table
// must hold LogMass.
func (t *Table) ScoreEntropy() ScoreEntropy {
	rule := gauss(t.D/2 + 1) // degree d−1 in λ
	var out ScoreEntropy
	for j, lambda := range rule.nodes {
		out.add(t, lambda, rule.weights[j])
	}
	return out
}

// ScoreEntropy integrates at the nodes of the table, which must hold LogMass; of a world only Price, whose
// sum with the NELBO is Raw.
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
		out.Normalised = t.costs.NELBO()
		out.Raw = out.Normalised + out.Price
	}
	return out
}

// add counts the node λ with a weight.
func (s *ScoreEntropy) add(t *Table, lambda, weight float64) {
	r := (1 - lambda) / lambda
	logR := logRate(lambda)
	// The integrand over t is E Σ term; over λ that is divided by 1−λ, and integrand
	// has the factor 1/λ: term/r.
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

// scoreLoss is the denoising score entropy of one masked position: Σ_a s(a), the
// logarithm of s at the true token, r and log r.
func scoreLoss(sum, logScore, r, logR float64) float64 {
	return sum - r*logScore + r*(logR-1)
}

// price is c − 1 − log c of a row's mass c.
func price(logMass float64) float64 { return math.Expm1(logMass) - logMass }
