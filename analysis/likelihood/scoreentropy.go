package likelihood

import (
	"context"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/integrate/quad"
)

// ScoreEntropy is the integrated denoising score entropy of a window,
//
//	∫_0^∞ E Σ_{l masked} [Σ_a s^l(a) − r·log s^l(x_l) + r·(log r − 1)] dt,  r = α/(1−α),
//
// computed from score values by quadrature over λ, dt = dλ/(1−λ), exactly over all states of a
// network without time. The
// definition is from Lou et al., arXiv 2310.16834, and the paper.
type ScoreEntropy struct {
	// Raw uses the network's unnormalised scores s, Normalised uses s divided by c = Σ_a μ(a) and is
	// the NELBO. Their difference is ∫ r·E Σ_l (c − 1 − log c) dt, 0 for logits.
	Raw, Normalised float64
}

// ScoreEntropy integrates over λ with enough nodes to be exact. The table must have LogMass.
func (t *Table) ScoreEntropy() ScoreEntropy {
	nodes := make([]float64, t.D/2+1) // exact for degree d−1 in λ
	weights := make([]float64, len(nodes))
	quad.Legendre{}.FixedLocations(nodes, weights, 0, 1)
	var out ScoreEntropy
	for j, lambda := range nodes {
		out.add(t, lambda, weights[j])
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
}

// integrand returns (1/λ)·E_λ Σ_{l masked} cost, where positions are masked independently with
// probability λ.
func (t *Table) integrand(lambda float64, c cost) float64 {
	var sum float64
	for a := range 1<<t.D - 1 {
		visible := bits.OnesCount(uint(a))
		weight := math.Pow(lambda, float64(t.D-visible-1)) * math.Pow(1-lambda, float64(visible))
		var part float64
		for i := range t.D {
			if a>>i&1 == 0 {
				mass := 0.0
				if t.LogMass != nil {
					mass = t.LogMass[a*t.D+i]
				}
				part += c(t.LogMu[a*t.D+i], mass)
			}
		}
		sum += weight * part
	}
	return sum
}

// scoreLoss returns the denoising score entropy of one masked position, from Σ_a s(a), the
// logarithm of s at the true token, r and log r.
func scoreLoss(sum, logScore, r, logR float64) float64 {
	return sum - r*logScore + r*(logR-1)
}

// price returns c − 1 − log c for a row's mass c.
func price(logMass float64) float64 { return math.Expm1(logMass) - logMass }

// ScoreEntropies estimates the integrated score entropy of normalised scores of windows, the first of
// which has the given index, on any network: for each the mean of n draws of a masked fraction, uniform
// on (0,1), and of positions masked with it. Its expectation is that of [ScoreEntropy.Normalised].
func (e *Evaluator) ScoreEntropies(ctx context.Context, ts []Target, first uint64, n int, seed uint64) ([]float64, error) {
	d := drawer{facts: e.facts}
	for i := range ts {
		if err := e.Check(ts[i]); err != nil {
			return nil, err
		}
		d.target, d.free = &ts[i], ts[i].Free
		d.stream.Reset(seed, first+uint64(i))
		for range n {
			lambda := d.stream.Float64()
			r, logR := (1-lambda)/lambda, logRate(lambda)
			d.lambda(lambda, func(mu, _ float64) float64 { return scoreLoss(r, logR+mu, r, logR) / r })
		}
	}
	if err := e.Eval(ctx, d.asks); err != nil {
		return nil, err
	}
	out := make([]float64, len(ts))
	for k, s := range d.samples {
		out[k/n] += s.value(d.asks[s.from:s.to]) / float64(n)
	}
	return out, nil
}
