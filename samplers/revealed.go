package samplers

import (
	"math"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
)

// PlanRevealed draws a plan into p given that it leaves nothing masked, and returns the
// logarithm of the probability of that, d·log(1−S_N) for a sampler with a grid and 0 for
// others. It takes one uniform of u for each free position, as [Sampler.Plan]
// does. Of a sampler that leaves masks only such plans can give a text, and a bound on its
// likelihood wants no others.
func (s *Sampler) PlanRevealed(p *Plan, u draw.Uniforms, free []int) (logP float64, err error) {
	law := s.law
	if steps := law.declare().Steps; steps != nil {
		left := steps.Left()
		if left >= 1 && len(free) > 0 {
			return 0, fault.Errorf("samplers", "the grid reveals nothing")
		}
		law = revealed{law, left}
		logP = float64(len(free)) * math.Log1p(-left)
	}
	if err := p.draw(law, u, free); err != nil {
		return 0, fault.Errorf("samplers", "%w", err)
	}
	return logP, nil
}

// revealed is a law given that every U is at least S_N, which is to be revealed.
type revealed struct {
	planner
	left float64
}

func (r revealed) plan(p *Plan) error {
	for i := range p.reveals {
		u := &p.reveals[i].u
		*u = r.left + (1-r.left)**u // rises with u: the order stays
	}
	return r.planner.plan(p)
}
