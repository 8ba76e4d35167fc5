package oracle

import (
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/samplers/schedule"
)

// profile returns c_j [D], the expected −log μ of a masked position with j visible ones: the terms
// of the NELBO by number of masks, in reverse order.
func profile(w *laws.World) []float64 {
	out := w.NELBO().TermsByK
	slices.Reverse(out)
	return out
}

// loss returns f(λ), the loss E −log μ of a masked position if every other position is masked with
// probability lambda, at which the denoiser is queried.
func loss(w *laws.World, lambda float64) float64 { return lossAt(w, lambda, lambda) }

// lossAt is the same where the others are masked with probability masked.
func lossAt(w *laws.World, masked, lambda float64) float64 {
	rows := w.Rows(lambda)
	var s laws.Sum
	for x := range w.States {
		m := w.Masks(x)
		if m == 0 || w.Mass[x] == 0 {
			continue
		}
		weight := math.Pow(1-masked, float64(w.D-m)) * math.Pow(masked, float64(m-1)) / float64(w.D)
		if weight == 0 {
			continue
		}
		w.EachMasked(x, func(l int) {
			for a, mu := range w.Row(rows, x, l) {
				if q := w.Mass[w.Reveal(x, l, a)]; q > 0 {
					s.Add(-weight * q * math.Log(mu))
				}
			}
		})
	}
	return s.Value()
}

// lossIntegral returns d·∫_0^1 f(λ) dλ, which is E[NELBO], with λ = 1/(1+e^(−π sinh u)).
func lossIntegral(w *laws.World) float64 {
	const step = 1. / 32
	var s laws.Sum
	for n := -3.5 / step; n <= 3.5/step; n++ {
		at := 1 / (1 + math.Exp(-math.Pi*math.Sinh(n*step)))
		s.Add(at * (1 - at) * math.Pi * math.Cosh(n*step) * loss(w, at))
	}
	return float64(w.D) * step * s.Value()
}

// planNELBO is E_q0 E_plan Σ −log μ along a sampler's plan with what it leaves filled at the end, an upper
// bound of E_q0[−log P]. A rule never looks at tokens, so that positions are masked independently.
func planNELBO(t testing.TB, w *laws.World, steps schedule.Steps) float64 {
	var s laws.Sum
	for k, stay := range steps.Stay {
		reveal := stay
		if k < len(steps.Reveal) {
			reveal = steps.Reveal[k]
		}
		if reveal > 0 {
			s.Add(float64(w.D) * reveal * lossAt(w, min(stay, 1), steps.Grid.Lambda[k]))
		}
	}
	if bound, got := s.Value(), laws.CrossEntropy(w.Q0, w.Denoise(w.GridLaw(steps), last(steps.Grid))); got > bound+1e-12 {
		t.Errorf("%s: E[−log P] = %v is above its bound %v", steps.Rule, got, bound)
	}
	return s.Value()
}

// latticeCost returns the plan's NELBO of Tweedie on masked fractions that end at 0, d Σ_k
// (λ_k−λ_{k+1})·f(λ_k).
func latticeCost(d int, f func(lambda float64) float64, lambda []float64) float64 {
	var s laws.Sum
	for k := 1; k < len(lambda); k++ {
		s.Add(float64(d) * (lambda[k-1] - lambda[k]) * f(lambda[k-1]))
	}
	return s.Value()
}

// bestSizes returns the sizes of exactly n blocks with the least Σ_k L_k c_{n_{k−1}}, n_k =
// L_1+…+L_k, with the smallest first block if several are best; nil if n is not in 1..len(c). If c
// increases somewhere, fewer blocks may be better, which [mdmgen/samplers.bestSizes] considers,
// too.
func bestSizes(c []float64, n int) []int {
	d := len(c)
	if n < 1 || n > d {
		return nil
	}
	cut := leastParts(d, n, func(from, to int) float64 { return float64(to-from) * c[from] })
	out := make([]int, n)
	for k := range out {
		out[k] = cut[k+1] - cut[k]
	}
	return out
}

// bestLattice returns the n+1 masked fractions from 1 to 0 on the lattice i/points with the least
// latticeCost, with the shortest first step if several are best; nil if n is not in 1..points.
// Unlike for [mdmgen/schedule.BestGrid], f need not come from a profile: a time-conditioned
// denoiser's does not.
func bestLattice(f func(lambda float64) float64, n, points int) []float64 {
	if n < 1 || n > points {
		return nil
	}
	at := func(i int) float64 { return float64(points-i) / float64(points) }
	loss := make([]float64, points)
	for i := range loss {
		loss[i] = f(at(i))
	}
	cut := leastParts(points, n, func(from, to int) float64 { return float64(to-from) * loss[from] })
	out := make([]float64, n+1)
	for k, i := range cut {
		out[k] = at(i)
	}
	return out
}

// leastParts cuts 0..last into n parts of least total cost. It returns the ends 0 = i_0 < … < i_n =
// last.
func leastParts(last, n int, cost func(from, to int) float64) []int {
	// best[i] is the least cost of k parts from i to the end.
	best := slices.Repeat([]float64{math.Inf(1)}, last+1)
	best[last] = 0
	choice := make([][]int, n)
	for k := 1; k <= n; k++ {
		next := slices.Repeat([]float64{math.Inf(1)}, last+1)
		to := make([]int, last+1)
		for i := range last - k + 1 {
			to[i] = last - k + 1 // used if every cost is infinite
			for j := i + 1; j <= last-k+1; j++ {
				if x := cost(i, j) + best[j]; x < next[i] {
					next[i], to[i] = x, j
				}
			}
		}
		best, choice[n-k] = next, to
	}
	out := []int{0}
	for k := range n {
		out = append(out, choice[k][out[k]])
	}
	return out
}
