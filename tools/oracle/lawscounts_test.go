package oracle

import (
	"math"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/samplers/schedule"
)

// exactChainCounts holds expectations of the exact chain on the segments of a grid, for d
// positions.
type exactChainCounts struct {
	// Reveals is the number of network calls except for leftovers; Leftover is the probability that
	// some position remains masked.
	Reveals, Leftover float64
}

// countExactChain computes the expectations.
func countExactChain(g schedule.Grid, d int) exactChainCounts {
	left := g.Lambda[g.Steps()] / g.Lambda[0]
	return exactChainCounts{Reveals: float64(d) * (1 - left), Leftover: -math.Expm1(float64(d) * math.Log1p(-left))}
}

// revealProbabilities returns 1−e^(−η_k r(θ_k)) for the steps of a grid.
func revealProbabilities(g schedule.Grid) []float64 {
	out := make([]float64, g.Steps())
	for k := range out {
		out[k] = -math.Expm1(-(g.Theta[k] - g.Theta[k+1]) * laws.Rate(g.Theta[k]))
	}
	return out
}

// frozenSeries computes [laws.World.FrozenLaw] by the exponential of the generator. With P one step
// of the chain of d clocks, of which one that rings at a visible position changes nothing, a step
// of h = η_k r(θ_k) is the Poisson series Σ_n e^(−dh) (dh)^n/n! · P^n.
func frozenSeries(w *laws.World, g schedule.Grid) []float64 {
	law := w.Start()
	for k := range g.Steps() {
		mean := float64(w.D) * (g.Theta[k] - g.Theta[k+1]) * laws.Rate(g.Theta[k])
		rows := w.Rows(g.Lambda[k])
		term, next := law, make([]float64, w.States)
		weight := math.Exp(-mean)
		// h < 1 on every grid inside (0,T]: after 40+8d terms the remainder is below 1e-30.
		for n := range 40 + 8*w.D {
			if n > 0 {
				moved := revealOne(w, term, rows)
				for x, q := range term {
					moved[x] += float64(w.D-lawstest.Masks(w.Space, x)) * q
					moved[x] /= float64(w.D)
				}
				term = moved
				weight *= mean / float64(n)
			}
			for x, q := range term {
				next[x] += weight * q
			}
		}
		law = next
	}
	return law
}

// revealOne sums over one reveal: out[x⊕_l a] = Σ f[x]·μ^l(a|x).
func revealOne(w *laws.World, f, rows []float64) []float64 {
	out := make([]float64, w.States)
	for x, q := range f {
		w.EachMasked(x, func(l int) {
			for a, mu := range w.Row(rows, x, l) {
				out[w.Reveal(x, l, a)] += q * mu
			}
		})
	}
	return out
}
