// Package reference holds normalised laws of text beside a network's own: what bounds both
// sides of Theorem 4 of "Sharp Convergence Rates for Masked Diffusion Models" from below on
// a text whose law q0 nobody knows. For any law p that sums to 1, Gibbs' inequality
// E_q0[log q0] ≥ E_q0[log p] gives
//
//	KL(q0‖P) ≥ E_q0[log p − log P],  ε″ = E_q0[NELBO + log q0] ≥ E_q0[NELBO + log p],
//
// with equality for p = q0. Both can be estimated on texts of q0 that p was not made from.
package reference

import (
	"context"
	"math"

	"mdmgen/analysis/likelihood"
)

// Reference is a law of the free positions of windows, given the others.
type Reference interface {
	// LogProb returns log p of the free tokens of each window in nats, −Inf where p
	// excludes them. Σ p over all tokens at the free positions is 1.
	LogProb(ctx context.Context, windows []likelihood.Target) ([]float64, error)
}

// Mix is log(a·p + (1−a)·q) of two laws' logarithms at the same texts: for a in 0..1 that
// was fixed before them, the mixture is a law like any other.
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
