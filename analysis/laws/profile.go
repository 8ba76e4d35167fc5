package laws

import (
	"math"
	"slices"
)

// Profile is c_j [D] = E −log μ^l(x_l | x_A) for a uniform subset A of j visible positions and l uniform outside it, x ~ q0:
// the terms of the NELBO by number of masks, read backwards. A time-conditioned denoiser is asked at λ ~
// Beta(d−j, j+1), the law of the hitting fraction.
func (w *World) Profile() []float64 {
	cost := w.meanCost()
	out := make([]float64, w.D)
	for j := range out {
		out[j] = w.subsetSum(w.D-j, func(x, l, a int) float64 { return cost[(x*w.D+l)*w.V+a] })
	}
	return out
}

// Loss is f(λ), the loss E −log μ of a masked position where every other position is masked
// with probability lambda, at which the denoiser is asked.
func (w *World) Loss(lambda float64) float64 {
	rows := w.Rows(lambda)
	var s Sum
	for x := range w.States {
		m := w.masks[x]
		if m == 0 || w.Mass[x] == 0 {
			continue
		}
		weight := mixture(w.D-1, m-1, 1-lambda, lambda) / float64(w.D)
		if weight == 0 {
			continue
		}
		w.addLosses(&s, rows, x, weight)
	}
	return s.Value()
}

// LossIntegral is d·∫_0^1 f(λ) dλ, which is E[NELBO].
func (w *World) LossIntegral() float64 {
	return float64(w.D) * overUnit.integral(func(lambda, _ float64) float64 { return w.Loss(lambda) })
}

// LatticeCost is the plan's NELBO of Tweedie on masked fractions that end at 0, d Σ_k (λ_k−λ_{k+1})·f(λ_k).
func LatticeCost(d int, f func(lambda float64) float64, lambda []float64) float64 {
	var s Sum
	for k := 1; k < len(lambda); k++ {
		s.Add(float64(d) * (lambda[k-1] - lambda[k]) * f(lambda[k-1]))
	}
	return s.Value()
}

// BestSizes are the sizes of exactly n blocks of least Σ_k L_k c_{n_{k−1}}, n_k = L_1+…+L_k, the smallest first block
// where several are best; nil where n is not in 1..len(c). Where c rises somewhere fewer blocks may be better,
// among which [mdmgen/samplers.BestSizes] chooses too.
func BestSizes(c []float64, n int) []int {
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

// BestLattice are the n+1 masked fractions from 1 to 0 on the lattice i/points of least LatticeCost, the shortest
// first step where several are best; nil where n is not in 1..points. f need not come from a profile, as it
// must for [mdmgen/samplers.BestGrid]: a time-conditioned denoiser's does not.
func BestLattice(f func(lambda float64) float64, n, points int) []float64 {
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

// leastParts cuts 0..last into n parts of least total cost: the ends 0 = i_0 < … < i_n = last.
func leastParts(last, n int, cost func(from, to int) float64) []int {
	// best[i] is the least cost of the parts from i to the end, k of them.
	best := slices.Repeat([]float64{math.Inf(1)}, last+1)
	best[last] = 0
	choice := make([][]int, n)
	for k := 1; k <= n; k++ {
		next := slices.Repeat([]float64{math.Inf(1)}, last+1)
		to := make([]int, last+1)
		for i := range last - k + 1 {
			to[i] = last - k + 1 // where every cost is infinite
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
