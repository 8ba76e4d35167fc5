package likelihood

import (
	"math"
	"math/bits"
	"sync"

	"mdmgen/model/world"
)

// meanCosts returns two tables of a world that depends on time: their entries are the means of
// log μ^i(x_i | x_A, λ) and of minus its score-entropy loss with normalised scores, over
// λ ∼ Beta(k, d−k+1) with k of d positions masked. Their NELBO is the world's, and its integrated
// score entropy. Nats.
func (e *Evaluator) meanCosts(t Target) (costs, entropy *Table) {
	d := len(t.Free)
	costs, entropy = &Table{D: d, LogMu: make([]float64, d<<d)}, &Table{D: d, LogMu: make([]float64, d<<d)}
	mu0, mu1, c, p := e.table.Mixture()
	for a := range 1<<d - 1 {
		canvas := t.Canvas(e.facts.MaskID)
		for i, l := range t.Free {
			if a>>i&1 == 1 {
				canvas[l] = t.IDs[l]
			}
		}
		state := e.table.State(canvas)
		for _, i := range costs.outside(a) {
			l := t.Free[i]
			at := (state*len(t.IDs)+l)*e.facts.Columns + t.IDs[l]
			costs.LogMu[a*d+i], entropy.LogMu[a*d+i] = meanLog(mu0[at], mu1[at], c, p, d, d-bits.OnesCount(uint(a)))
		}
	}
	return costs, entropy
}

// meanLog returns the means over λ ∼ Beta(k, d−k+1) of log((1−cλ^p)·μ0 + cλ^p·μ1) and of minus the
// score-entropy loss of that probability. If μ1 > μ0 the logarithm bends within a width of λ/p of the
// λ with μ0 = cλ^p·(μ1−μ0): singularities lie on the circle through it, so the integral is split there.
func meanLog(mu0, mu1, c, p float64, d, k int) (log, entropy float64) {
	bend := min(math.Pow(mu0/(c*(mu1-mu0)), 1/p), 1) // NaN or 1 without a bend
	ends := []float64{0, 1}
	if bend > 0 && bend < 1 {
		ends = []float64{0, bend, 1}
	}
	var mass float64
	for i, from := range ends[1:] {
		low := ends[i]
		for _, n := range unitRule() {
			lambda := min(low+(from-low)*n.at, 1-0x1p-53)
			weight := (from - low) * n.weight * math.Pow(lambda, float64(k-1)) * math.Pow(1-lambda, float64(d-k))
			if weight > 0 {
				mu, r, logR := world.WeightsAt(c, p, lambda).LogMix(mu0, mu1), (1-lambda)/lambda, logRate(lambda)
				log += weight * mu
				entropy -= weight * scoreLoss(r, logR+mu, r, logR) / r
				mass += weight
			}
		}
	}
	return log / mass, entropy / mass
}

type node struct{ at, weight float64 }

// unitRule is the trapezoidal rule over (0,1) after λ = 1/(1+e^(−π sinh u)) (Takahasi and Mori 1974).
// Its errors decrease like e^(−c/step) even if derivatives are infinite at an end. With this step and
// weights of 1e-22 at the ends, means of logarithms with p ≤ 1000 have 13 digits.
var unitRule = sync.OnceValue(func() (nodes []node) {
	const step, end = 1. / 20, 3.5
	for u := -end; u <= end; u += step {
		e := math.Exp(-math.Pi * math.Sinh(u))
		at := 1 / (1 + e)
		nodes = append(nodes, node{at, at * e / (1 + e) * math.Pi * math.Cosh(u) * step})
	}
	return nodes
})
