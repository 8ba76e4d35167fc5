package laws

import "mdmgen/samplers"

// Refined puts between each two masked fractions λ_k > λ_{k+1} the point λ_k − ϑ(λ_k−λ_{k+1}).
func Refined(lambda []float64, theta float64) []float64 {
	out := lambda[:1:1]
	for k := 1; k < len(lambda); k++ {
		out = append(out, lambda[k-1]-theta*(lambda[k-1]-lambda[k]), lambda[k])
	}
	return out
}

// TrapezoidLaw is the law over states of the trapezoidal plan: Tweedie on the refined grid of masked fractions, whose
// steps come in pairs, x at λ_k, x* at λ_mid after the first half. Tokens of the first half are from p = μ(·|x,λ_k), those of
// the second from max(α1·μ(·|x*,λ_mid) − α2·p, floor·μ(·|x*,λ_mid)), normalised, α1 = 1/(2ϑ(1−ϑ)), α2 = α1 − 1: a
// pair of positions is split between the halves with probability 2ϑ(1−ϑ), and then its interaction counts α1
// times. steps is Tweedie's law on the refined grid; it panics where that has an odd number of steps.
func (w *World) TrapezoidLaw(steps samplers.Steps, theta, floor float64) []float64 {
	g := steps.Grid
	if g.Steps()%2 != 0 {
		panic("laws: half steps come in pairs")
	}
	weight := 1/(2*theta*(1-theta)) - 1
	law := w.start()
	first, second := make([]float64, w.D*w.V), make([]float64, w.D*w.V)
	for k := 0; k < g.Steps(); k += 2 {
		now, middle := w.Rows(g.Lambda[k]), w.Rows(g.Lambda[k+1])
		next := make([]float64, w.States)
		for x, q := range law {
			if q == 0 {
				continue
			}
			clear(first)
			w.masked(x, func(l int) {
				for a, mu := range row(now, w, x, l) {
					first[l*w.V+a] = steps.Jump[k] * mu
				}
			})
			w.visit(first, x, q, func(y int, q float64) {
				clear(second)
				w.masked(y, func(l int) {
					fill := second[l*w.V : (l+1)*w.V]
					samplers.Mix(fill, row(middle, w, y, l), row(now, w, x, l), weight, floor)
					for a := range fill {
						fill[a] *= steps.Jump[k+1]
					}
				})
				w.visit(second, y, q, func(z int, q float64) { next[z] += q })
			})
		}
		law = next
	}
	return law
}

// TrapezoidCalls is the expected number of network calls of the trapezoidal plan over d positions, that for
// leftovers among them: without time, of non-empty half steps. A time-conditioned network needs
// μ(x,λ_k) wherever the step is not empty and μ(x*,λ_mid) wherever its second half is not.
func TrapezoidCalls(steps samplers.Steps, d int, timed bool) float64 {
	calls, finish := steps.ExpectedCalls(d)
	if timed {
		whole := samplers.Steps{Stay: steps.Stay}
		for k := 0; k < len(steps.Reveal); k += 2 {
			whole.Reveal = append(whole.Reveal, steps.Reveal[k]+steps.Reveal[k+1], steps.Reveal[k+1])
		}
		calls, _ = whole.ExpectedCalls(d)
	}
	return calls + finish
}
