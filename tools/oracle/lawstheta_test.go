package oracle

import (
	"math"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/samplers/schedule"
)

// thetaScheme is a two-stage solver of Ren et al., arXiv 2502.00234, with intensities R(x,t)[l,a] =
// r(t)·μ^l(a|x,t) on masked positions and 0 elsewhere. Both stages are τ-leaps: clocks of the given
// rates, of which the first to ring determines the token. Stage one goes from x to x* with R(x,θ_k)
// for the time ϑη; ρ = θ_k − ϑη. Negative rates are clipped entry by entry, so that reveals depend
// on the network.
type thetaScheme int

const (
	// thetaTrapezoidal continues from x* for (1−ϑ)η with [α1·R(x*,ρ) − α2·R(x,θ_k)]₊, α1 =
	// 1/(2ϑ(1−ϑ)), α2 = α1 − 1.
	thetaTrapezoidal thetaScheme = iota
	// thetaRK2 restarts from x for η with [(1−1/(2ϑ))·R(x,θ_k) + 1/(2ϑ)·R(x*,ρ)]₊.
	thetaRK2
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

// thetaStep is one step of a scheme.
type thetaStep struct {
	w           *laws.World
	scheme      thetaScheme
	theta       float64
	now, middle []float64 // tables at θ_k and ρ
	// lead and mid are r(θ_k) and r(ρ).
	lead, mid float64
	// first, second are the lengths of the stages.
	first, second float64
	clipped       *float64
	leap          []float64
}

// thetaLaw returns the law of a scheme with 0 < theta < 1 on a grid. It counts a call on x if the
// previous step changed x, and one on x* if x* differs from x. clipped is the largest total rate of
// a position's tokens that was clipped in a second stage.
func thetaLaw(w *laws.World, scheme thetaScheme, g schedule.Grid, theta float64) (v visitedLaw, clipped float64) {
	law, visited := w.Start(), laws.Sum{}
	visited.Add(1)
	for k := range g.Steps() {
		eta := g.Theta[k] - g.Theta[k+1]
		rho := g.Theta[k] - theta*eta
		s := &thetaStep{
			w: w, scheme: scheme, theta: theta, clipped: &clipped, leap: make([]float64, w.D*w.V),
			now: w.Rows(g.Lambda[k]), middle: w.Rows(-math.Expm1(-rho)),
			lead: laws.Rate(g.Theta[k]), mid: laws.Rate(rho), first: theta * eta, second: (1 - theta) * eta,
		}
		if scheme == thetaRK2 {
			s.second = eta
		}
		next := make([]float64, w.States)
		stage := make([]float64, w.D*w.V)
		for x, q := range law {
			if q == 0 {
				continue
			}
			s.one(x, stage)
			w.Visit(stage, x, q, func(y int, q float64) {
				if y != x && lawstest.Masks(w.Space, y) > 0 {
					visited.Add(q)
				}
				from := y
				if scheme == thetaRK2 {
					from = x
				}
				s.two(x, y)
				w.Visit(s.leap, from, q, func(z int, q float64) {
					next[z] += q
					if z != y && z != x && lawstest.Masks(w.Space, z) > 0 {
						visited.Add(q)
					}
				})
			})
		}
		law = next
	}
	return visitedLaw{Law: law, Calls: visited.Value()}, clipped
}

// one computes the first leap from x.
func (s *thetaStep) one(x int, jump []float64) {
	clear(jump)
	w := s.w
	w.EachMasked(x, func(l int) {
		for a, mu := range w.Row(s.now, x, l) {
			jump[l*w.V+a] = s.lead * mu
		}
		leap(jump[l*w.V:(l+1)*w.V], s.first)
	})
}

// two computes the second leap, after x has led to y.
func (s *thetaStep) two(x, y int) {
	clear(s.leap)
	w := s.w
	from, before, after := y, 1-1/(2*s.theta*(1-s.theta)), 1/(2*s.theta*(1-s.theta))
	if s.scheme == thetaRK2 {
		from, before, after = x, 1-1/(2*s.theta), 1/(2*s.theta)
	}
	w.EachMasked(from, func(l int) {
		rates := s.leap[l*w.V : (l+1)*w.V]
		cut := 0.0
		for a, mu := range w.Row(s.now, x, l) {
			rate := before * s.lead * mu
			if w.Token(y, l) == w.V {
				rate += after * s.mid * w.Row(s.middle, y, l)[a]
			}
			cut += max(-rate, 0)
			rates[a] = max(rate, 0)
		}
		*s.clipped = max(*s.clipped, cut)
		leap(rates, s.second)
	})
}

// leap converts the rates of a position's tokens to the probabilities that each is the first to
// ring within a time.
func leap(rates []float64, time float64) {
	total := 0.0
	for _, r := range rates {
		total += r
	}
	if total == 0 {
		return
	}
	share := -math.Expm1(-total*time) / total
	for a := range rates {
		rates[a] *= share
	}
}
