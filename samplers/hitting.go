package samplers

import (
	"math"
	"math/rand/v2"

	"mdmgen/internal/fault"

	"gonum.org/v1/gonum/stat/distuv"
)

// single reveals one position a call, in uniform order, in the steps of a grid: each
// token sees all that were revealed before it, and only times are approximate, if
// anything. That is the reverse process as it is simulated event by event. Since the
// rate of a masked position is r(θ) = 1/(e^θ−1) whatever the network says, thinning
// needs no value of it, and a call is due for reveals only, not for events.
//
// Uniformization (Chen and Ying, arXiv 2402.08095): events of a Poisson process of
// rate B_k = d·r(θ_{k+1}) in segment k; at θ, with m positions masked, one is a reveal
// with probability m·r(θ)/B_k. MATU (Huang et al., arXiv 2509.21835): the rate follows the
// masks, m·r(θ_{k+1}). Both have the law of the exact chain from T to δ: λ of the reveals
// are independent and uniform on (0, λ_T), cut at λ_δ. DMPM (Conforti et al., arXiv
// 2512.00580): in step k each masked position has a clock of the constant rate r(θ_k).
type single struct {
	steps Steps
	// events are those of a rule that has them, nil for DMPM.
	events *eventLaw
}

func (s single) plan(p *Plan) error {
	grid, stay := s.steps.Grid, s.steps.Stay
	s.steps.each(p, func(r reveal, k int, lambda float64) {
		if s.events == nil {
			p.begin(grid.Lambda[k], grid.Theta[k], k)
		} else {
			lambda = grid.Lambda[0] * r.u
			p.begin(lambda, thetaOf(lambda), k)
			p.thinned += s.events.thinned(k, r.u)
		}
		p.add(r.position, lambda)
	})
	if n := len(stay) - 1; s.events != nil {
		p.Events = len(p.Blocks)
		p.thinned += float64(len(p.Left)) * s.events.thinned(n, stay[n])
	}
	return nil
}

func (s single) calls(d int) (blocks, left float64, err error) {
	_, left = s.steps.ExpectedCalls(d)
	return float64(d) * (1 - s.steps.Left()), left, nil
}

// eventLaw counts the events of uniformization and MATU that reveal nothing. Given the
// reveals they are a Poisson process: what the bound exceeds the rate by.
type eventLaw struct {
	grid Grid
	// aware says that the bound follows the number of masks (MATU).
	aware bool
	// bound [N+1] is Σ_{j<k} η_j·r(θ_{j+1}), the integral of the bound on one masked
	// position from T down to θ_k.
	bound []float64
	// each is the expected number of events for each free position.
	each float64
}

// mostEvents is how many events a position may expect, so that counts of long
// canvases stay whole numbers.
const mostEvents = 1e9

func newEventLaw(rule Rule, g Grid) (*eventLaw, error) {
	n := g.Steps()
	if math.IsInf(g.Theta[0], 1) {
		return nil, fault.Errorf("samplers", "T is infinite: the events of %s need a finite one", rule)
	}
	if g.Theta[n] <= 0 {
		return nil, fault.Errorf("samplers", "delta is 0: the rate that %s bounds is infinite there: give a positive delta", rule)
	}
	e := &eventLaw{grid: g, aware: rule == RuleMATU, bound: make([]float64, n+1)}
	for k := range n {
		rate := 1 / math.Expm1(g.Theta[k+1])
		eta := g.Theta[k] - g.Theta[k+1]
		e.bound[k+1] = e.bound[k] + eta*rate
		if e.aware {
			// ∫ λ over the segment, each term positive: η − (e^(−θ_{k+1}) − e^(−θ_k)).
			e.each += rate * (expm1Excess(eta) + g.Lambda[k+1]*-math.Expm1(-eta)) / g.Lambda[0]
		}
	}
	if !e.aware {
		e.each = e.bound[n]
	}
	if !(e.bound[n] <= mostEvents) {
		return nil, fault.Errorf("samplers", "%s expects %.3g events a position on this grid: use more steps or a larger delta", rule, e.bound[n])
	}
	return e, nil
}

// expm1Excess is x + expm1(−x) = x²/2 − x³/6 + …, x ≥ 0.
func expm1Excess(x float64) float64 {
	if x > 1e-2 {
		return x + math.Expm1(-x)
	}
	return x * x / 2 * (1 - x/3*(1-x/4*(1-x/5*(1-x/6))))
}

// thinned is the expected number of events without a reveal that belong to one
// position: the bound less the rate, integrated from T to θ = −log(1−λ_T·u) in segment k,
// where the position is revealed, or to δ with k = N and u = λ_δ/λ_T. Where the
// bound counts revealed positions too, it goes on to δ.
func (e *eventLaw) thinned(k int, u float64) float64 {
	bound := e.bound[len(e.bound)-1]
	if e.aware {
		bound = e.bound[k]
		if k < len(e.bound)-1 {
			bound += (e.grid.Theta[k] - thetaOf(e.grid.Lambda[0]*u)) / math.Expm1(e.grid.Theta[k+1])
		}
	}
	return bound + math.Log(u)
}

// poisson draws from a Poisson law of the given mean, which may be a rounding below 0.
func poisson(mean float64, source rand.Source) int {
	if !(mean > 0) {
		return 0
	}
	return int(distuv.Poisson{Lambda: mean, Src: source}.Rand())
}
