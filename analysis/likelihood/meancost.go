package likelihood

import (
	"math"
	"math/bits"
	"sync"

	"mdmgen/model/world"
)

// meanCosts is a table of a world that depends on time whose entries are E log μ^i(x_i | x_A, λ), λ ∼ Beta(k, d−k+1)
// with k of d positions masked: its NELBO is the world's.
func (e *Evaluator) meanCosts(t Target) *Table {
	d := len(t.Free)
	out := &Table{D: d, LogMu: make([]float64, d<<d)}
	mu0, mu1, c, p := e.table.Mixture()
	for a := range 1<<d - 1 {
		canvas := t.Canvas(e.facts.MaskID)
		for i, l := range t.Free {
			if a>>i&1 == 1 {
				canvas[l] = t.IDs[l]
			}
		}
		state := e.table.State(canvas)
		for _, i := range out.outside(a) {
			l := t.Free[i]
			at := (state*len(t.IDs)+l)*e.facts.Columns + t.IDs[l]
			out.LogMu[a*d+i] = meanLog(mu0[at], mu1[at], c, p, d, d-bits.OnesCount(uint(a)))
		}
	}
	return out
}

// meanLog is E log((1−cλ^p)·μ0 + cλ^p·μ1), λ ∼ Beta(k, d−k+1). Where μ1 > μ0 the logarithm bends at the λ at which
// μ0 = cλ^p·(μ1−μ0), in a width of λ/p: singularities stand on the circle through it, and it parts the integral.
func meanLog(mu0, mu1, c, p float64, d, k int) float64 {
	if mu0 == mu1 {
		return math.Log(mu0)
	}
	bend := min(math.Pow(mu0/(c*(mu1-mu0)), 1/p), 1) // NaN and beyond 1 where it does not bend
	ends := []float64{0, 1}
	if bend > 0 && bend < 1 {
		ends = []float64{0, bend, 1}
	}
	var mean, mass float64
	for i, from := range ends[1:] {
		low := ends[i]
		for _, n := range unitRule() {
			lambda := min(low+(from-low)*n.at, 1-0x1p-53)
			weight := (from - low) * n.weight * math.Pow(lambda, float64(k-1)) * math.Pow(1-lambda, float64(d-k))
			if weight > 0 {
				mean += weight * world.WeightsAt(c, p, lambda).LogMix(mu0, mu1)
				mass += weight
			}
		}
	}
	return mean / mass
}

type node struct{ at, weight float64 }

// unitRule is the trapezoidal rule over (0,1) after λ = 1/(1+e^(−π sinh u)) (Takahasi and Mori 1974), whose errors
// fall like e^(−c/step) also where derivatives are infinite at an end. At this step, and with the ends at
// weights of 1e-22, means of logarithms with p ≤ 1000 have 13 digits.
var unitRule = sync.OnceValue(func() (nodes []node) {
	const step, end = 1. / 20, 3.5
	for u := -end; u <= end; u += step {
		e := math.Exp(-math.Pi * math.Sinh(u))
		at := 1 / (1 + e)
		nodes = append(nodes, node{at, at * e / (1 + e) * math.Pi * math.Cosh(u) * step})
	}
	return nodes
})
