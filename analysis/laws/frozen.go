package laws

import (
	"math"

	"mdmgen/samplers/schedule"
)

// FrozenLaw returns the law over states of the CTMC with rates r(θ_k)·μ(x_t,θ_k) inside each step,
// with the time frozen and the state current: Theorem 1's frozen process, and the sampler DMPM
// (Conforti et al., arXiv 2512.00580, solved exactly in each step). A masked position waits for an
// exponential time whatever the tokens are, so step k reveals each with probability
// 1−e^(−η_k·r(θ_k)), one after another in uniform order.
func (w *World) FrozenLaw(g schedule.Grid) []float64 {
	law := w.Start()
	for k := range g.Steps() {
		h := (g.Theta[k] - g.Theta[k+1]) * Rate(g.Theta[k])
		law = w.oneByOne(law, w.Rows(g.Lambda[k]), -math.Expm1(-h), math.Exp(-h))
	}
	return law
}

// oneByOne applies a step to a law. The step reveals each masked position with probability reveal,
// independently, one after another in uniform order, so that a token depends on the earlier ones. n
// reveals that lead to y have the weight
//
//	reveal^n/n! · stay^m(y)
//
// times the sum over paths of n reveals of Π μ.
func (w *World) oneByOne(law, rows []float64, reveal, stay float64) []float64 {
	paths, next := law, make([]float64, w.States)
	weight := 1.0
	for n := range w.D + 1 {
		if n > 0 {
			paths = w.revealOne(paths, rows)
			weight *= reveal / float64(n)
		}
		for y, q := range paths {
			if q > 0 {
				next[y] += weight * math.Pow(stay, float64(w.masks[y])) * q
			}
		}
	}
	return next
}

// revealOne sums over one reveal: out[x⊕_l a] = Σ f[x]·μ^l(a|x).
func (w *World) revealOne(f, rows []float64) []float64 {
	out := make([]float64, w.States)
	for x, q := range f {
		if q == 0 {
			continue
		}
		w.EachMasked(x, func(l int) {
			for a, mu := range w.Row(rows, x, l) {
				out[w.Reveal(x, l, a)] += q * mu
			}
		})
	}
	return out
}
