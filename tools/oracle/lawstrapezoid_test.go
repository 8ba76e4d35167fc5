package oracle

import (
	"mdmgen/analysis/laws"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// trapezoidLaw returns the law over states of the trapezoidal plan: Tweedie on the refined grid of
// masked fractions, whose steps come in pairs, with x at λ_k and x* at λ_mid after the first half.
// Tokens of the first half are from p = μ(·|x,λ_k), those of the second from max(α1·μ(·|x*,λ_mid) −
// α2·p, floor·μ(·|x*,λ_mid)), normalised, α1 = 1/(2ϑ(1−ϑ)), α2 = α1 − 1: a pair of positions is
// split between the halves with probability 2ϑ(1−ϑ), and its interaction then counts α1 times.
// steps is Tweedie's law on the refined grid. trapezoidLaw panics if the number of steps is odd.
func trapezoidLaw(w *laws.World, steps schedule.Steps, theta, floor float64) []float64 {
	g := steps.Grid
	if g.Steps()%2 != 0 {
		panic("laws: half steps come in pairs")
	}
	weight := 1/(2*theta*(1-theta)) - 1
	law := w.Start()
	first, second := make([]float64, w.D*w.V), make([]float64, w.D*w.V)
	for k := 0; k < g.Steps(); k += 2 {
		now, middle := w.Rows(g.Lambda[k]), w.Rows(g.Lambda[k+1])
		next := make([]float64, w.States)
		for x, q := range law {
			if q == 0 {
				continue
			}
			clear(first)
			w.EachMasked(x, func(l int) {
				for a, mu := range w.Row(now, x, l) {
					first[l*w.V+a] = steps.Jump[k] * mu
				}
			})
			w.Visit(first, x, q, func(y int, q float64) {
				clear(second)
				w.EachMasked(y, func(l int) {
					fill := second[l*w.V : (l+1)*w.V]
					draw.Mix(fill, w.Row(middle, y, l), w.Row(now, x, l), weight, floor)
					for a := range fill {
						fill[a] *= steps.Jump[k+1]
					}
				})
				w.Visit(second, y, q, func(z int, q float64) { next[z] += q })
			})
		}
		law = next
	}
	return law
}
