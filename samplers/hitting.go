package samplers

import (
	"math/rand/v2"

	"mdmgen/samplers/schedule"

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
	steps schedule.Steps
	// events are those of a rule that has them, nil for DMPM.
	events *schedule.Events
}

func (s single) plan(p *Plan) error {
	grid, stay := s.steps.Grid, s.steps.Stay
	eachReveal(s.steps, p, func(r reveal, k int, lambda float64) {
		if s.events == nil {
			p.begin(grid.Lambda[k], grid.Theta[k], k)
		} else {
			lambda = grid.Lambda[0] * r.u
			p.begin(lambda, schedule.ThetaOf(lambda), k)
			p.thinned += s.events.Thinned(k, r.u)
		}
		p.add(r.position, lambda)
	})
	if n := len(stay) - 1; s.events != nil {
		p.Events = len(p.Blocks)
		p.thinned += float64(len(p.Left)) * s.events.Thinned(n, stay[n])
	}
	return nil
}

func (s single) calls(d int) (blocks, left float64, err error) {
	_, left = s.steps.ExpectedCalls(d)
	return float64(d) * (1 - s.steps.Left()), left, nil
}

// poisson draws from a Poisson law of the given mean, which may be a rounding below 0.
func poisson(mean float64, source rand.Source) int {
	if !(mean > 0) {
		return 0
	}
	return int(distuv.Poisson{Lambda: mean, Src: source}.Rand())
}

func (s single) declare() Law {
	clock := AtStep
	if s.events != nil {
		clock = AtHit
	}
	return Law{Steps: &s.steps, OneByOne: true, Clock: clock}
}
