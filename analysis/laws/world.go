package laws

import (
	"errors"
	"math"

	"mdmgen/model/world"
)

// World is a distribution of data with a denoiser,
//
//	μ(·|x,t) = (1−w)·μ0 + w·μ1,  w = c·λ^p
//
// or μ0 alone if it does not depend on time.
type World struct {
	Space
	// Q0 [Sequences] is the distribution of the data.
	Q0 []float64
	// Mass [States] is the probability of a state's visible tokens, so that the
	// forward marginal is q_t(x) = Mass[x]·α^(d−m)·λ^m.
	Mass []float64
	// posterior [States·D·V] is q0^l(a|visible tokens), 0 where Mass is 0.
	posterior []float64
	mu0, mu1  []float64
	c, p      float64
	file      *world.World // nil for a world from tables
}

// New returns the world of a file. It returns an error if the file has no q0.
func New(w *world.World) (*World, error) {
	if w.Q0() == nil {
		return nil, errors.New(`field "q0" is missing: the laws of a world need the data's distribution`)
	}
	f := w.Facts()
	mu0, mu1, c, p := w.Mixture()
	out := FromTables(f.Length, f.Columns, w.Q0(), mu0, mu1, c, p)
	out.file = w
	return out, nil
}

// FromTables returns a world of d positions over v tokens: q0 [v^d], μ0 and μ1 [(v+1)^d·d·v], with
// any values at visible positions; μ1 is nil if the denoiser does not depend on time. The slices
// are kept. It panics if a length is wrong.
func FromTables(d, v int, q0, mu0, mu1 []float64, c, p float64) *World {
	w := &World{Space: NewSpace(d, v), Q0: q0, mu0: mu0, mu1: mu1, c: c, p: p}
	rows := w.States * d * v
	if len(q0) != w.Sequences || len(mu0) != rows || mu1 != nil && len(mu1) != rows {
		panic("laws: a table has the wrong length")
	}
	w.Mass = make([]float64, w.States)
	w.posterior = make([]float64, rows)
	for i, x := range w.clean {
		w.Mass[x] = q0[i]
	}
	for x := range w.States {
		first := true
		w.EachMasked(x, func(l int) {
			at := (x*d + l) * v
			var sum Sum
			for a := range v {
				w.posterior[at+a] = w.Mass[w.Reveal(x, l, a)]
				sum.Add(w.posterior[at+a])
			}
			if first {
				w.Mass[x], first = sum.Value(), false
			}
			if total := sum.Value(); total > 0 {
				for a := range v {
					w.posterior[at+a] /= total
				}
			}
		})
	}
	return w
}

// Timed reports whether the denoiser depends on time.
func (w *World) Timed() bool { return w.mu1 != nil }

// Posterior returns q0^l(·|visible tokens of the state) at a masked position; false if the position
// is visible or the tokens are impossible. The slice must not be changed.
func (w *World) Posterior(state, l int) ([]float64, bool) {
	if w.Token(state, l) != w.V || w.Mass[state] == 0 {
		return nil, false
	}
	return w.Row(w.posterior, state, l), true
}

// Rows returns the denoiser's table [States·D·V] at masked fraction lambda. It must not be changed.
func (w *World) Rows(lambda float64) []float64 {
	if w.mu1 == nil {
		return w.mu0
	}
	weights := world.WeightsAt(w.c, w.p, lambda)
	out := make([]float64, len(w.mu0))
	for i := range out {
		out[i] = weights.Mix(w.mu0[i], w.mu1[i])
	}
	return out
}

// costs returns −log of [World.Rows], +Inf only if μ is 0 at that masked fraction: values stay
// finite when λ^p is too small for a float64.
func (w *World) costs(lambda float64) []float64 {
	if w.mu1 == nil {
		return NegLog(w.mu0)
	}
	weights := world.WeightsAt(w.c, w.p, lambda)
	out := make([]float64, len(w.mu0))
	for i := range out {
		out[i] = -weights.LogMix(w.mu0[i], w.mu1[i])
	}
	return out
}

// Marginal returns the forward marginal q_t over states.
func (w *World) Marginal(t float64) []float64 {
	alpha, lambda := math.Exp(-t), -math.Expm1(-t)
	out := make([]float64, w.States)
	for x := range out {
		out[x] = w.Mass[x] * mixture(w.D, w.masks[x], alpha, lambda)
	}
	return out
}

// lambdaAt is 1−e^(−t), below 1 as t is finite: at 1 itself a μ that changes with time may be 0.
func lambdaAt(t float64) float64 { return min(-math.Expm1(-t), 1-0x1p-53) }

// Rate returns r(t) = α/(1−α) = 1/(e^t−1), the rate at which a masked position is revealed.
func Rate(t float64) float64 { return 1 / math.Expm1(t) }
