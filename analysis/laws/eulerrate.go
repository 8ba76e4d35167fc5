package laws

import (
	"math"

	"mdmgen/samplers"
)

// eulerIntegral is Σ_k ∫ E_{x∼q_t} Σ_{l,a} |R̂(x, x⊕_l a) − R_t| dt for the CTMC that has Euler's law at every
// θ_k: with u the time since θ_k its law inside the step is Euler's for a step of length u, and its rate is
//
//	R̂ = r_k/(1−u r_k) · E[μ^l(a|x_{θ_k}) | x_t = x].
//
// The conditional mean is a ratio of polynomials in h = u r_k: A_n and B_n collect the states at θ_k that
// have n more masks than x,
//
//	E[…] = Σ_n h^n A_n(x,l,a) / Σ_n h^n B_n(x).
func (w *World) eulerIntegral(steps samplers.Steps) float64 {
	var sum Sum
	law := w.start()
	g := steps.Grid
	for k, p := range steps.Jump {
		rows := w.Rows(g.Lambda[k])
		e := w.newEulerStep(law, rows, Rate(g.Theta[k]))
		panels(g.Theta[k], g.Theta[k+1], func(low, high float64) { sum.Add(e.integral(g.Theta[k], low, high)) })
		law = w.step(law, rows, p)
	}
	return sum.Value()
}

// panels cuts a step, from theta down to next, so that sixteen nodes a panel resolve the
// integrand: r_k/(1−u r_k) has a pole at t = θ − expm1(θ) < 0, and everything else
// varies on the scale of 1.
func panels(theta, next float64, do func(low, high float64)) {
	pole := math.Expm1(theta) - theta
	for high := theta; high > next; {
		low := high - min(0.5, (high+pole)/2)
		if low < next+(high-next)/8 {
			low = next
		}
		do(low, high)
		high = low
	}
}

// eulerStep holds the polynomials of one step.
type eulerStep struct {
	w    *World
	rate float64
	// reach [States·(D+1)] are B_n; mean [(States·D·V)·(D+1)] are A_n.
	reach, mean []float64
	rows        []float64
}

func (w *World) newEulerStep(law, rows []float64, rate float64) *eulerStep {
	n := w.D + 1
	e := &eulerStep{w: w, rate: rate, rows: rows, reach: make([]float64, w.States*n), mean: make([]float64, len(rows)*n)}
	for x, q := range law {
		if q > 0 {
			e.add(x, x, 0, 0, q)
		}
	}
	return e
}

// add visits the states y that from leads to, n reveals made before position l.
func (e *eulerStep) add(from, y, l, n int, q float64) {
	w := e.w
	for l < w.D && w.Token(from, l) != w.V {
		l++
	}
	if l == w.D {
		width := w.D + 1
		e.reach[y*width+n] += q
		w.masked(y, func(l int) {
			at := (y*w.D + l) * w.V
			for a, mu := range row(e.rows, w, from, l) {
				e.mean[(at+a)*width+n] += q * mu
			}
		})
		return
	}
	e.add(from, y, l+1, n, q)
	for a, mu := range row(e.rows, w, from, l) {
		if mu > 0 {
			e.add(from, w.Reveal(y, l, a), l+1, n+1, q*mu)
		}
	}
}

// integral is over t in [low, high] of the step that began at theta.
func (e *eulerStep) integral(theta, low, high float64) float64 {
	w, width := e.w, e.w.D+1
	var sum Sum
	for x := range w.States {
		m := w.masks[x]
		if m == 0 || w.Mass[x] == 0 {
			continue
		}
		reach := e.reach[x*width : (x+1)*width]
		w.masked(x, func(l int) {
			post := row(w.posterior, w, x, l)
			for a, p := range post {
				at := ((x*w.D+l)*w.V + a) * width
				mean := e.mean[at : at+width]
				f := func(t float64) float64 {
					h := (theta - t) * e.rate
					num, den := horner(mean, h), horner(reach, h)
					// A state that Euler cannot have reached has no rate.
					if den > 0 {
						num /= den
					}
					alpha, lambda := math.Exp(-t), -math.Expm1(-t)
					// q_t(x)·(R̂ − r(t)p), r(t) = α/λ multiplied out.
					return mixture(w.D-1, m-1, alpha, lambda) * (lambda*e.rate/(1-h)*num - alpha*p)
				}
				sum.Add(w.Mass[x] * absolute(f, low, high))
			}
		})
	}
	return sum.Value()
}

func horner(c []float64, h float64) float64 {
	out := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		out = out*h + c[i]
	}
	return out
}
