package laws

import (
	"math"
	"sync"
)

// doubleExponential integrates over a half-line or an interval by the trapezoidal rule after a
// double exponential change of variable (Takahasi and Mori 1974), which converges for integrands
// with singular ends. Errors decrease like e^(−c/step), so halving the step doubles the correct
// digits. c is small if an integrand is sharp, such as log μ if μ contains λ^p with a large p. So
// the step is halved until two results agree to half of the requested digits.
type doubleExponential struct {
	// change returns the variable at u, 1 minus it without cancellation, and its derivative.
	change func(u float64) (at, rest, weight float64)
	mu     sync.Mutex
	levels []rule
}

// rule holds the nodes that a level adds to the previous ones. rest is 1 − at on (0,1).
type rule struct{ at, rest, weight []float64 }

const (
	// bendStep times p is the coarsest step at which two levels are compared: log μ may bend within λ/p, and
	// levels that both miss it agree.
	bendStep = 0.5
	// doubleExponentialEnd bounds |u|: the weights beyond it are below 1e-25.
	doubleExponentialEnd = 4
	// coarsestStep is the step of level 0; smooth integrands need one halving.
	coarsestStep = 0.1
	// finestLevel suffices for 1e-10 in all integrals of log μ with p ≤ 1000.
	finestLevel = 12
	// halfDigits is the required relative agreement of two levels. The error of the finer one is
	// about its square, which is stricter than 1e-10 needs, because errors change their sign with
	// the step and two levels may agree by chance.
	halfDigits = 1e-8
	// minDifference is always accepted: rounding may produce that much for an integral of 0.
	minDifference = 1e-16
)

// overUnit integrates ∫_0^1 f(λ) dλ: λ = 1/(1+e^(−π sinh u)).
var overUnit = &doubleExponential{change: func(u float64) (at, rest, weight float64) {
	e := math.Exp(-math.Pi * math.Sinh(u))
	at, rest = 1/(1+e), e/(1+e)
	return min(at, 1-0x1p-53), rest, at * rest * math.Pi * math.Cosh(u)
}}

// overHalfLine integrates ∫_0^∞ f(t) dt for f bounded at 0 and decaying like e^(−t): t =
// e^(u−e^(−u)).
var overHalfLine = &doubleExponential{change: func(u float64) (at, rest, weight float64) {
	at = math.Exp(u - math.Exp(-u))
	return at, 1 - at, at * (1 + math.Exp(-u))
}}

// integrate computes n integrals together: add adds weight times each integrand at a node to the
// sums.
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

// integral computes one integral.
func (d *doubleExponential) integral(p float64, f func(at, rest float64) float64) float64 {
	return d.integrate(1, p, func(sums []Sum, at, rest, weight float64) { sums[0].Add(weight * f(at, rest)) })[0]
}

func agree(a, b []float64) bool {
	for i, x := range a {
		if math.Abs(x-b[i]) > halfDigits*math.Abs(x)+minDifference {
			return false
		}
	}
	return true
}

// level returns the nodes of level 0, or the nodes that halve the step of level n−1.
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
