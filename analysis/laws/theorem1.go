package laws

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/analysis/theory"
	"mdmgen/samplers/schedule"
)

// Theorem1 holds both sides of TV(q_δ, p) ≤ TV(q_T, p_0) + Σ_k ∫ E_{x∼q_t} Σ_y |R̂ − R_t| dt for
// Euler on a grid, for two choices of the rates R̂. The Frozen fields use the paper's,
// r(θ_k)·μ(x_t, θ_k), with the time frozen and the state current. They belong to another process
// than Euler's, whose update reads x_{θ_k}. The Euler fields use the rates of the CTMC that has
// Euler's law at every θ_k.
type Theorem1 struct {
	TVInitial                           float64
	FrozenIntegral, FrozenRHS, FrozenTV float64
	EulerIntegral, EulerRHS, EulerTV    float64
	EulerTVQ0                           float64
	// LTV is Assumption 1's Σ_k η_k E_{q_{θ_k}} Σ_y |s − c|; LTVPinsker ≥ LTV is
	// Σ η_k √(2 d e^(−θ_k) L_SE(θ_k)).
	LTV, LTVPinsker float64
	// PinskerRounding is the effect on LTVPinsker of a rounding error in each L_SE: a root near 0
	// magnifies it, to about 1e-8·d for an exact score.
	PinskerRounding float64
}

// Theorem1 compares Euler's chain with the data, on a grid from a finite T.
func (w *World) Theorem1(euler schedule.Steps) Theorem1 {
	g, law := euler.Grid, w.GridLaw(euler)
	n := g.Steps()
	target := w.Marginal(g.Theta[n])
	t := Theorem1{
		TVInitial: theory.InitialTV(w.D, g.Theta[0]),
		FrozenTV:  TV(target, w.FrozenLaw(g)),
		EulerTV:   TV(target, law), EulerTVQ0: TV(w.OnStates(w.Q0), law),
	}
	var frozen, ltv, pinsker Sum
	for k := range n {
		theta, eta := g.Theta[k], g.Theta[k]-g.Theta[k+1]
		frozen.Add(w.frozenStep(theta, g.Theta[k+1]))
		ltv.Add(eta * w.RateError(theta))
		loss, scale := w.ScoreEntropy(theta), eta*math.Sqrt(2*float64(w.D)*math.Exp(-theta))
		pinsker.Add(scale * math.Sqrt(loss))
		if !math.IsInf(loss, 1) {
			// L_SE adds terms of size r·p over d·λ masked positions: dα in all.
			t.PinskerRounding += scale * (math.Sqrt(loss+0x1p-52*float64(w.D)*math.Exp(-theta)) - math.Sqrt(loss))
		}
	}
	t.FrozenIntegral, t.LTV, t.LTVPinsker = frozen.Value(), ltv.Value(), pinsker.Value()
	t.EulerIntegral = w.eulerIntegral(euler)
	t.FrozenRHS = t.TVInitial + t.FrozenIntegral
	t.EulerRHS = t.TVInitial + t.EulerIntegral
	return t
}

// frozenStep returns ∫ E_{x∼q_t} Σ_{l,a} |r_k μ^l(a|x,θ_k) − r(t) q0^l(a|x^UM)| dt over t from
// theta down to next. Each term changes sign at most once, at r(t) = r_k μ/q0, and both of its
// parts have closed integrals.
func (w *World) frozenStep(theta, next float64) float64 {
	rows := w.Rows(-math.Expm1(-theta))
	rate := Rate(theta)
	var s Sum
	for x := range w.States {
		m := w.masks[x]
		if m == 0 || w.Mass[x] == 0 {
			continue
		}
		n := w.D - m
		// part returns the signed integral over (from, to).
		part := func(mu, p, from, to float64) float64 {
			return rate*mu*moment(n, m, from, to) - p*moment(n+1, m-1, from, to)
		}
		w.EachMasked(x, func(l int) {
			post := w.Row(w.posterior, x, l)
			for a, mu := range w.Row(rows, x, l) {
				p := post[a]
				if mu == 0 && p == 0 {
					continue
				}
				change := math.Log1p(p / (rate * mu))
				if change > next && change < theta {
					s.Add(w.Mass[x] * (math.Abs(part(mu, p, next, change)) + math.Abs(part(mu, p, change, theta))))
				} else {
					s.Add(w.Mass[x] * math.Abs(part(mu, p, next, theta)))
				}
			}
		})
	}
	return s.Value()
}

// moment returns ∫ e^(−nt)(1−e^(−t))^m dt from a to b.
func moment(n, m int, a, b float64) float64 {
	out := 0.0
	for j := range m + 1 {
		c := float64(n + j)
		term := b - a
		if c > 0 {
			term = math.Exp(-c*a) * -math.Expm1(-c*(b-a)) / c
		}
		if j%2 == 1 {
			term = -term
		}
		out += float64(combin.Binomial(m, j)) * term
	}
	return out
}
