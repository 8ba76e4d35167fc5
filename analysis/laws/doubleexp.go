package laws

import (
	"math"
	"sync"
)

// doubleExponential integrates over a half-line or an interval by the trapezoidal rule after a
// double exponential change of variable (Takahasi and Mori 1974), which converges for
// integrands with singular ends. Errors fall like e^(−c/step), so that half a step doubles
// the right digits; c is small where an integrand is sharp, as is log μ where μ has λ^p with
// a large p, and so the step is halved until two results agree to half of the digits that
// are asked for.
type doubleExponential struct {
	// change gives the variable at u, 1 less it without cancellation, and its derivative.
	change func(u float64) (at, rest, weight float64)
	mu     sync.Mutex
	levels []rule
}

// rule is the nodes that a level adds to those before. rest is 1 − at on (0,1).
type rule struct{ at, rest, weight []float64 }

const (
	// bendStep times p is the coarsest step at which two levels are compared: log μ may bend within λ/p, and
	// levels that both miss it agree.
	bendStep = 0.5
	// doubleExponentialEnd bounds |u|: beyond it the weights are below 1e-25.
	doubleExponentialEnd = 4
	// coarsestStep is the step of level 0; smooth integrands need one halving.
	coarsestStep = 0.1
	// finestLevel is enough for 1e-10 in all integrals of log μ with p ≤ 1000.
	finestLevel = 12
	// halfDigits is the relative agreement of two levels at which the finer has an error of
	// about its square: more than 1e-10 asks for, because errors change their sign with the step
	// and two may agree by chance.
	halfDigits = 1e-8
	// leastDifference is one that does not count: rounding may leave as much of an integral
	// that is 0.
	leastDifference = 1e-16
)

// overUnit is for ∫_0^1 f(λ) dλ: λ = 1/(1+e^(−π sinh u)).
var overUnit = &doubleExponential{change: func(u float64) (at, rest, weight float64) {
	e := math.Exp(-math.Pi * math.Sinh(u))
	at, rest = 1/(1+e), e/(1+e)
	return min(at, 1-0x1p-53), rest, at * rest * math.Pi * math.Cosh(u)
}}

// overHalfLine is for ∫_0^∞ f(t) dt where f is bounded at 0 and decays like e^(−t):
// t = e^(u−e^(−u)).
var overHalfLine = &doubleExponential{change: func(u float64) (at, rest, weight float64) {
	at = math.Exp(u - math.Exp(-u))
	return at, 1 - at, at * (1 + math.Exp(-u))
}}

// integrate works out n integrals of log μ at once, μ changing like λ^p: add adds to each sum weight
// times its integrand at a node.
func (d *doubleExponential) integrate(n int, p float64, add func(sums []Sum, at, rest, weight float64)) []float64 {
	sums, out, before := make([]Sum, n), make([]float64, n), make([]float64, n)
	step := coarsestStep
	for level := 0; ; level++ {
		r := d.level(level)
		for i, at := range r.at {
			add(sums, at, r.rest[i], r.weight[i])
		}
		for i := range sums {
			out[i] = sums[i].Value() * step
		}
		if level > 0 && step*p < bendStep && agree(out, before) || level == finestLevel {
			return out
		}
		copy(before, out)
		step /= 2
	}
}

// integral is integrate for one integrand.
func (d *doubleExponential) integral(p float64, f func(at, rest float64) float64) float64 {
	return d.integrate(1, p, func(sums []Sum, at, rest, weight float64) { sums[0].Add(weight * f(at, rest)) })[0]
}

func agree(a, b []float64) bool {
	for i, x := range a {
		if math.Abs(x-b[i]) > halfDigits*math.Abs(x)+leastDifference {
			return false
		}
	}
	return true
}

// level returns the nodes of level 0, or those that halve the step before.
func (d *doubleExponential) level(n int) rule {
	d.mu.Lock()
	defer d.mu.Unlock()
	for k := len(d.levels); k <= n; k++ {
		var r rule
		step := math.Ldexp(coarsestStep, -k)
		last := int(doubleExponentialEnd / step)
		for i := -last; i <= last; i++ {
			if k > 0 && i%2 == 0 {
				continue
			}
			at, rest, weight := d.change(float64(i) * step)
			if at > 0 && weight > 0 {
				r.at, r.rest, r.weight = append(r.at, at), append(r.rest, rest), append(r.weight, weight)
			}
		}
		d.levels = append(d.levels, r)
	}
	return d.levels[n]
}
