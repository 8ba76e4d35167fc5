package oracle

import (
	"fmt"
	"math"

	"mdmgen/analysis/laws"
	"mdmgen/samplers/schedule"
)

// scoreRule is how a sampler uses scores s = r(t)·c·μ that are not normalised: c(x,l) is the total
// of position l's scores over the rate r(t).
type scoreRule int

// The rules determine the probability that a masked position is revealed in a step from θ of length
// η; its token is drawn from μ.
const (
	// scoreTruncatedTau is 1−(λ_{k+1}/λ_k)^c, the first jump of a process with rate c·r(t) at the
	// running time t (Dmitriev, Huang and Wei, arXiv 2602.15008). c = 1 is Tweedie.
	scoreTruncatedTau scoreRule = iota
	// scoreTauAny is 1−e^(−cηr(θ)), the first jump at the rate frozen at θ.
	scoreTauAny
	// scoreEuler is cηr(θ).
	scoreEuler
)

// visitedLaw is the law of a sampler without a plan: its reveals depend on the network.
type visitedLaw struct {
	// Law [States] is the final law.
	Law []float64
	// Calls is the expected number of visited canvases with masks that differ from the previous
	// one, including a final one: the calls of a time-free network that remembers the rows of its
	// last call.
	Calls float64
}

// scoredLaw returns the law of a rule on a grid with scores of total c(state, l). It returns an
// error if Euler's probability is above 1, or a total is negative or not finite.
func scoredLaw(w *laws.World, rule scoreRule, g schedule.Grid, c func(state, l int) float64) (visitedLaw, error) {
	var err error
	v := visitedLaw{Law: w.Start(), Calls: 1}
	jump := make([]float64, w.D*w.V)
	for k := range g.Steps() {
		rows, next := w.Rows(g.Lambda[k]), make([]float64, w.States)
		var fresh laws.Sum
		for x, q := range v.Law {
			if q == 0 {
				continue
			}
			clear(jump)
			w.EachMasked(x, func(l int) {
				total := c(x, l)
				p := rule.reveal(g, k, total)
				if !(total >= 0 && p <= 1+1e-12) && err == nil {
					err = fmt.Errorf("laws: step %d reveals position %d of state %d with probability %v: use more steps", k, l, x, p)
				}
				for a, mu := range w.Row(rows, x, l) {
					jump[l*w.V+a] = min(p, 1) * mu
				}
			})
			w.Visit(jump, x, q, func(y int, q float64) {
				next[y] += q
				if y != x && w.Masks(y) > 0 {
					fresh.Add(q)
				}
			})
		}
		v.Law, v.Calls = next, v.Calls+fresh.Value()
		if err != nil {
			return visitedLaw{}, err
		}
	}
	return v, nil
}

// reveal returns the probability in step k of a grid.
func (r scoreRule) reveal(g schedule.Grid, k int, c float64) float64 {
	if r == scoreTruncatedTau {
		// 1−(λ′/λ)^c = 1−e^(c·log(λ′/λ)), with the ratio as 1 − a probability, since it may be near
		// 1.
		p := (g.Lambda[k] - g.Lambda[k+1]) / g.Lambda[k]
		return -math.Expm1(c * math.Log1p(-p))
	}
	h := c * (g.Theta[k] - g.Theta[k+1]) * laws.Rate(g.Theta[k])
	if r == scoreTauAny {
		return -math.Expm1(-h)
	}
	return h
}
