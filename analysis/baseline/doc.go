// Package baseline holds distributions of text other than a network's own. They bound both sides of
// Theorem 4 of "Sharp Convergence Rates for Masked Diffusion Models" from below on a text whose
// distribution q0 is unknown. For any p that sums to 1, Gibbs' inequality
// E_q0[log q0] ≥ E_q0[log p] gives
//
//	KL(q0‖P) ≥ E_q0[log p − log P],  ε″ = E_q0[NELBO + log q0] ≥ E_q0[NELBO + log p],
//
// with equality for p = q0. Both can be estimated on texts of q0 that p was not made from.
package baseline

import (
	"context"
	"math"

	"mdmgen/analysis/likelihood"
)

// Distribution is a distribution of the free positions of windows, given the others.
type Distribution interface {
	// LogProb returns log p of the free tokens of each window in nats, −Inf if p excludes them. Σ p
	// over all tokens at the free positions is 1.
	LogProb(ctx context.Context, windows []likelihood.Target) ([]float64, error)
}

// Mix returns log(a·p + (1−a)·q) from the logarithms of two distributions on the same texts. For an
// a in 0..1 that was fixed before the texts were seen, the mixture is a distribution itself.
func Mix(a float64, p, q []float64) []float64 {
	out := make([]float64, len(p))
	for i := range p {
		x, y := math.Log(a)+p[i], math.Log1p(-a)+q[i]
		top := max(x, y)
		if out[i] = top; !math.IsInf(top, -1) {
			out[i] += math.Log(math.Exp(x-top) + math.Exp(y-top))
		}
	}
	return out
}
