package laws

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"mdmgen/internal/expsum"
)

// FHSLaw returns the law of the first-hitting sampler (the paper's Algorithm 1) over sequences. The
// reveal times λ are d ordered uniforms on (0,1), independent of the tokens, so
//
//	P(x) = Σ_orders ∫_{1>λ_(1)>…>λ_(d)>0} Π μ dλ = G_∅(1),
//	G_A(λ) = Σ_{i∉A} ∫_0^λ μ^i(x_i|x_A,λ')·G_{A∪i}(λ') dλ',  G_[d] = 1.
//
// With μ linear in y = λ^p, G_A(λ) is λ^n Σ_k g_k y^k, n = d−|A|, and y^k integrates to y^k/(n+pk).
// For p < 1 this cancels, since y is near 1; y is then 1−λ^p, and the integral of y^k is (y^k + pk
// times the integral of y^(k−1))/(n+pk). Without time only k = 0 is left: the recursion over
// subsets.
func (w *World) FHSLaw() []float64 {
	out := make([]float64, w.Sequences)
	for i := range out {
		out[i] = math.Ldexp(w.fhsProbability(i))
	}
	return out
}

// FHSCosts returns −log of [World.FHSLaw], which does not underflow.
func (w *World) FHSCosts() []float64 {
	out := make([]float64, w.Sequences)
	for i := range out {
		out[i] = -expsum.Log(w.fhsProbability(i))
	}
	return out
}

// fhsProbability returns P(x) as p·2^exponent.
func (w *World) fhsProbability(sequence int) (p float64, exponent int) {
	x := w.clean[sequence]
	full := 1<<w.D - 1
	// g[B]·2^exponents[B] holds the coefficients when the positions of the bit set B are masked. The
	// largest is near 2^size, so that its product with a subnormal μ is exact to all digits.
	const size = 500
	g, exponents := make([][]float64, full+1), make([]int, full+1)
	g[0] = []float64{1}
	for b := 1; b <= full; b++ {
		state, n, most := x, 0, math.MinInt
		for l := range w.D {
			if b>>l&1 == 1 {
				state, n, most = w.Hide(state, l), n+1, max(most, exponents[b&^(1<<l)])
			}
		}
		c := make([]float64, w.order(n))
		for l := range w.D {
			if b>>l&1 == 0 {
				continue
			}
			at := (state*w.D+l)*w.V + w.Token(x, l)
			constant, slope := w.mu0[at], 0.0
			if w.mu1 != nil {
				slope = w.c * (w.mu1[at] - w.mu0[at])
			}
			if w.nearOne() {
				constant, slope = (1-w.c)*constant+w.c*w.mu1[at], -slope
			}
			for k, next := range g[b&^(1<<l)] {
				next = math.Ldexp(next, exponents[b&^(1<<l)]-most)
				c[k] += constant * next
				if slope != 0 {
					c[k+1] += slope * next
				}
			}
		}
		for k := len(c) - 1; k >= 0; k-- {
			c[k] /= float64(n) + w.p*float64(k)
			if k > 0 && w.nearOne() {
				c[k-1] += w.p * float64(k) * c[k]
			}
		}
		largest, e := math.Frexp(floats.Norm(c, math.Inf(1)))
		for k := range c {
			c[k] = math.Ldexp(c[k], size-e)
		}
		if g[b], exponents[b] = c, most+e-size; largest == 0 {
			exponents[b] = math.MinInt32 // below all others
		}
	}
	if w.nearOne() {
		return g[full][0], exponents[full]
	}
	var s Sum
	for _, c := range g[full] {
		s.Add(c)
	}
	return s.Value(), exponents[full]
}

// nearOne reports whether the weight of μ1 is expanded around λ = 1.
func (w *World) nearOne() bool { return w.mu1 != nil && w.p < 1 }

// order returns the number of coefficients with n masked positions.
func (w *World) order(n int) int {
	if w.mu1 == nil {
		return 1
	}
	return n + 1
}
