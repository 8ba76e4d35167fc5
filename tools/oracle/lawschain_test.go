package oracle

import (
	"math"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/model/world"
)

// exactChain returns the law over states of the exact reverse chain with rates r(t)·μ(x_t,t) from
// all-mask, from masked fraction first down to last, first > last ≥ 0. It is the law of
// uniformization (Chen and Ying, arXiv 2402.08095) and of its mask-aware form MATU on any segments:
// their candidate events thin to this chain, whatever their bounds. In the clock λ a masked
// position is revealed at rate 1/λ, so that reveal times are independent and uniform on (0, first),
// cut at last. A state y with the visible positions A has
//
//	P(y) = first^(−d)·last^(d−|A|)·∫_{first>λ_(1)>…>λ_(|A|)>last} Σ_orders Π μ dλ = first^(−d)·last^(d−|A|)·G_A(first),
//	G_B(λ) = Σ_{l∈B} ∫_last^λ μ^l(y_l | y with B masked, λ′)·G_{B∖l}(λ′) dλ′,  G_∅ = 1.
//
// It panics if the fractions are out of order.
func exactChain(w *laws.World, file *world.World, first, last float64) []float64 {
	if !(first <= 1 && last >= 0 && first > last) {
		panic("masked fractions out of order")
	}
	out := make([]float64, w.States)
	for y := range out {
		out[y] = chainTo(w, file, y, first, last) * math.Pow(last/first, float64(lawstest.Masks(w.Space, y)))
	}
	return out
}

// chainTo returns first^(−|A|)·G_A(first) of exactChain. In u = λ/first, G_B is Σ_ik g_ik·u^(i+pk)
// with i, k ≤ |B|: an integral of monomials, and a constant that makes G_B 0 at the lower end.
func chainTo(w *laws.World, file *world.World, y int, first, last float64) float64 {
	var visible []int
	for l := range w.D {
		if w.Token(y, l) != w.V {
			visible = append(visible, l)
		}
	}
	mu0, mu1, c, power := file.Mixture()
	low, scale := last/first, c*math.Pow(first, power)
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
			constant, slope := mu0[at], 0.0
			if mu1 != nil {
				slope = scale * (mu1[at] - mu0[at])
			}
			for i, x := range g[b&^(1<<j)] {
				if x != 0 {
					rate[i] += constant * x
					rate[i+1] += slope * x // k increases along a row
				}
			}
		}
		sums := make([]float64, width*width)
		for i := range width - 1 {
			for k := range width {
				x := rate[i*width+k]
				if x == 0 {
					continue
				}
				n := float64(i+1) + power*float64(k)
				sums[(i+1)*width+k] += x / n
				sums[0] -= x / n * math.Pow(low, n)
			}
		}
		g[b] = sums
	}
	var s laws.Sum
	for _, x := range g[full] {
		s.Add(x)
	}
	return max(s.Value(), 0)
}
