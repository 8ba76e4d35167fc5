package laws

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"
)

// NELBO holds the paper's eq. (NELBO) in all its forms: L_∞(x0) = ∫_0^∞ r(t) E Σ_{l masked} −log
// μ^l(x_t,t)[x0^l] dt. Values are +Inf if μ excludes a sequence.
type NELBO struct {
	// BySequence [Sequences] is L_∞(x0).
	BySequence []float64
	// Expected is its mean under q0.
	Expected float64
	// ContinuousT, Lambda, KSubsets and AnyOrder are the same mean by quadrature in t
	// and in λ, as Σ_k (1/k) E Σ −log μ̄, and as a mean over orders.
	ContinuousT, Lambda, KSubsets, AnyOrder float64
	// TermsByK [D] are the terms of KSubsets, k = 1 first.
	TermsByK []float64
}

// NELBO computes the bound.
func (w *World) NELBO() NELBO {
	cost := w.meanCost()
	n := NELBO{BySequence: make([]float64, w.Sequences), TermsByK: make([]float64, w.D)}
	for i := range n.BySequence {
		n.BySequence[i] = w.bySequence(cost, i)
	}
	var expected, subsets, orders Sum
	for i, q := range w.Q0 {
		if q > 0 {
			expected.Add(q * n.BySequence[i])
			orders.Add(q * w.orderCost(cost, i))
		}
	}
	for k := range n.TermsByK {
		n.TermsByK[k] = w.subsetSum(k+1, func(x, l, a int) float64 { return cost[(x*w.D+l)*w.V+a] })
		subsets.Add(n.TermsByK[k])
	}
	n.Expected, n.KSubsets, n.AnyOrder = expected.Value(), subsets.Value(), orders.Value()
	n.ContinuousT = overHalfLine.integral(w.p, func(t, _ float64) float64 {
		return Rate(t) * w.lossOf(math.Exp(-t), lambdaAt(t))
	})
	n.Lambda = overUnit.integral(w.p, func(lambda, rest float64) float64 { return w.lossOf(rest, lambda) / lambda })
	return n
}

// meanCost returns −log μ̄^l, a table [States·D·V]: the mean of −log μ^l(x_k, λ) over α ∼
// Beta(d−k+1,k), k the masks of the state. μ̄^l is a geometric mean and does not sum to 1.
func (w *World) meanCost() []float64 {
	out := NegLog(w.mu0)
	if w.mu1 == nil {
		return out
	}
	return overUnit.integrate(len(out), w.p, func(sums []Sum, lambda, rest, weight float64) {
		costs := w.costs(lambda)
		for x := range w.States {
			k := w.masks[x]
			if k == 0 {
				continue
			}
			// The density is k·C(d,k)·λ^(k−1)·α^(d−k).
			density := float64(k) * float64(combin.Binomial(w.D, k)) * mixture(w.D-1, k-1, rest, lambda)
			w.EachMasked(x, func(l int) {
				at := (x*w.D + l) * w.V
				for a := range w.V {
					sums[at+a].Add(weight * density * costs[at+a])
				}
			})
		}
	})
}

// bySequence returns Σ_k (1/k)·mean over subsets M of k positions of Σ_{l∈M} cost.
func (w *World) bySequence(cost []float64, sequence int) float64 {
	x := w.clean[sequence]
	var s Sum
	for b := 1; b < 1<<w.D; b++ {
		state := w.hideAll(x, b)
		k := w.masks[state]
		part := 0.0
		w.EachMasked(state, func(l int) { part += cost[(state*w.D+l)*w.V+w.Token(x, l)] })
		s.Add(part / (float64(k) * float64(combin.Binomial(w.D, k))))
	}
	return s.Value()
}

// orderCost returns the mean over orders of a sequence's chain of costs.
func (w *World) orderCost(cost []float64, sequence int) float64 {
	x := w.clean[sequence]
	var s Sum
	n, order := combin.NumPermutations(w.D, w.D), make([]int, w.D)
	for i := range n {
		state := w.AllMask()
		for _, l := range combin.IndexToPermutation(order, i, w.D, w.D) {
			a := w.Token(x, l)
			s.Add(cost[(state*w.D+l)*w.V+a])
			state = w.Reveal(state, l, a)
		}
	}
	return s.Value() / float64(n)
}

// hideAll masks the positions of a bit set.
func (w *World) hideAll(state, set int) int {
	for l := range w.D {
		if set>>l&1 == 1 {
			state = w.Hide(state, l)
		}
	}
	return state
}

// subsetSum returns (1/k) E_{x0∼q0} E_{M_k} Σ_{l∈M_k} f(x0 with M_k masked, l, x0^l).
func (w *World) subsetSum(k int, f func(state, l, a int) float64) float64 {
	var s Sum
	for x := range w.States {
		if w.masks[x] != k || w.Mass[x] == 0 {
			continue
		}
		w.EachMasked(x, func(l int) {
			for a := range w.V {
				if q := w.Mass[w.Reveal(x, l, a)]; q > 0 {
					s.Add(q * f(x, l, a))
				}
			}
		})
	}
	return s.Value() / (float64(k) * float64(combin.Binomial(w.D, k)))
}

// lossOf returns E Σ_{l masked} −log μ^l[x0^l], where each position is masked with probability
// lambda and the denoiser is evaluated at lambda.
func (w *World) lossOf(alpha, lambda float64) float64 {
	costs := w.costs(lambda)
	var s Sum
	for x := range w.States {
		weight := mixture(w.D, w.masks[x], alpha, lambda)
		if weight == 0 || w.Mass[x] == 0 {
			continue
		}
		w.EachMasked(x, func(l int) {
			for a, cost := range w.Row(costs, x, l) {
				if q := w.Mass[w.Reveal(x, l, a)]; q > 0 {
					s.Add(weight * q * cost)
				}
			}
		})
	}
	return s.Value()
}
