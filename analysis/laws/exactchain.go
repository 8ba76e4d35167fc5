package laws

import (
	"math"

	"mdmgen/samplers"
)

// ExactChain is the law over states of the exact reverse chain with rates r(t)·μ(x_t,t) from
// all-mask at masked fraction first down to last, first > last ≥ 0: of uniformization (Chen and Ying, arXiv
// 2402.08095) and of its mask-aware form MATU on any segments, whose candidate events thin to this chain whatever
// their bounds are. In the clock λ a masked position is revealed at rate 1/λ, so that reveal times are independent
// and uniform on (0, first), cut at last. A state y with the positions A visible has
//
//	P(y) = first^(−d)·last^(d−|A|)·∫_{first>λ_(1)>…>λ_(|A|)>last} Σ_orders Π μ dλ = first^(−d)·last^(d−|A|)·G_A(first),
//	G_B(λ) = Σ_{l∈B} ∫_last^λ μ^l(y_l | y with B masked, λ′)·G_{B∖l}(λ′) dλ′,  G_∅ = 1.
//
// It panics where the fractions are out of order.
func (w *World) ExactChain(first, last float64) []float64 {
	if !(first <= 1 && last >= 0 && first > last) {
		panic("laws: masked fractions out of order")
	}
	if w.mu1 == nil {
		stay := last / first
		return w.oneByOne(w.start(), w.mu0, (first-last)/first, stay)
	}
	out := make([]float64, w.States)
	for y := range out {
		out[y] = w.timedChain(y, first, last) * integerPower(last/first, w.masks[y])
	}
	return out
}

// timedChain is first^(−|A|)·G_A(first) of ExactChain. In u = λ/first, G_B is Σ_ik g_ik·u^(i+pk) with
// i, k ≤ |B|: an integral of monomials and a constant that makes G_B 0 at the lower end.
func (w *World) timedChain(y int, first, last float64) float64 {
	var visible []int
	for l := range w.D {
		if w.Token(y, l) != w.V {
			visible = append(visible, l)
		}
	}
	low, scale := last/first, w.c*math.Pow(first, w.p)
	full := 1<<len(visible) - 1
	width := len(visible) + 1
	g := make([][]float64, full+1)
	g[0] = make([]float64, width*width)
	g[0][0] = 1
	for b := 1; b <= full; b++ {
		state := y
		for j, l := range visible {
			if b>>j&1 == 1 {
				state = w.Hide(state, l)
			}
		}
		rate := make([]float64, width*width)
		for j, l := range visible {
			if b>>j&1 == 0 {
				continue
			}
			at := (state*w.D+l)*w.V + w.Token(y, l)
			constant, slope := w.mu0[at], scale*(w.mu1[at]-w.mu0[at])
			for i, x := range g[b&^(1<<j)] {
				if x != 0 {
					rate[i] += constant * x
					rate[i+1] += slope * x // k counts up along a row
				}
			}
		}
		c := make([]float64, width*width)
		for i := range width - 1 {
			for k := range width {
				x := rate[i*width+k]
				if x == 0 {
					continue
				}
				power := float64(i+1) + w.p*float64(k)
				c[(i+1)*width+k] += x / power
				c[0] -= x / power * math.Pow(low, power)
			}
		}
		g[b] = c
	}
	var s Sum
	for _, x := range g[full] {
		s.Add(x)
	}
	return max(s.Value(), 0)
}

// ExactChainCounts are expectations of the exact chain on the segments of a grid. d counts positions.
type ExactChainCounts struct {
	// Uniformization and MATU are their candidate events, +Inf where a segment ends at
	// t = 0: the bound on the rate is d·r(θ_{k+1}) for the one, and follows the number of
	// masks for the other.
	Uniformization, MATU float64
	// Reveals are network calls but for leftovers; Leftover is the probability that
	// some position is left masked.
	Reveals, Leftover float64
}

// CountExactChain works the expectations out:
//
//	d Σ_k η_k r(θ_{k+1})  and  (d/λ_T) Σ_k r(θ_{k+1}) (η_k − (e^(−θ_{k+1}) − e^(−θ_k))).
func CountExactChain(g samplers.Grid, d int) ExactChainCounts {
	n := g.Steps()
	var all, aware Sum
	for k := range n {
		eta, rate := g.Theta[k]-g.Theta[k+1], Rate(g.Theta[k+1])
		all.Add(float64(d) * eta * rate)
		// ∫ λ over the segment, both terms positive.
		aware.Add(float64(d) / g.Lambda[0] * rate * (eta + math.Expm1(-eta) - g.Lambda[k+1]*math.Expm1(-eta)))
	}
	left := g.Lambda[n] / g.Lambda[0]
	return ExactChainCounts{
		Uniformization: all.Value(), MATU: aware.Value(),
		Reveals: float64(d) * (1 - left), Leftover: -math.Expm1(float64(d) * math.Log1p(-left)),
	}
}
