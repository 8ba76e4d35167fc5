package samplers

import (
	"sort"

	"mdmgen/samplers/schedule"
)

// gridPlan is the law of Euler, Tweedie and τ-leaping: in each step of a grid the
// masked positions are revealed independently, and those of one step are filled by
// one call, on the state at its start and at its time θ_k. What its rules are is
// told at [schedule.Rule].
//
// Sources: "Sharp Convergence Rates for Masked Diffusion Models", sections on
// Euler and on D3PM; Campbell et al., arXiv 2205.14987 (τ-leaping); Lou et al., arXiv
// 2310.16834 (Tweedie); Sahoo et al., arXiv 2406.07524 (ancestral sampling).
type gridPlan struct{ steps schedule.Steps }

func (g gridPlan) plan(p *Plan) error {
	grid, now := g.steps.Grid, -1
	eachReveal(g.steps, p, func(r reveal, k int, lambda float64) {
		if k != now {
			now = k
			p.begin(grid.Lambda[k], grid.Theta[k], k)
		}
		p.add(r.position, lambda)
	})
	return nil
}

// eachReveal hands do the reveals that fall into steps, with their step and the masked fraction
// there, and leaves the others to the plan. Within a step U is linear in λ: for Tweedie that is the
// law of the hitting time.
func eachReveal(s schedule.Steps, p *Plan, do func(r reveal, k int, lambda float64)) {
	n := len(s.Jump)
	p.LeftLambda, p.LeftTheta = s.Grid.Lambda[n], s.Grid.Theta[n]
	k := 0
	for i, r := range p.reveals {
		if r.u < s.Stay[n] {
			for _, left := range p.reveals[i:] {
				p.Left = append(p.Left, left.position)
			}
			return
		}
		if r.u < s.Stay[k+1] {
			// The step with S_{k+1} ≤ U < S_k; later reveals are in the same or later steps.
			k += sort.Search(n-1-k, func(j int) bool { return s.Stay[k+j+1] <= r.u })
		}
		inside := (r.u - s.Stay[k+1]) / (s.Stay[k] - s.Stay[k+1])
		do(r, k, s.Grid.Lambda[k+1]+inside*(s.Grid.Lambda[k]-s.Grid.Lambda[k+1]))
	}
}

func (g gridPlan) calls(d int) (blocks, left float64, err error) {
	blocks, left = g.steps.ExpectedCalls(d)
	return blocks, left, nil
}

func (g gridPlan) declare() Law {
	euler := g.steps.Rule == schedule.RuleEuler
	return Law{Steps: &g.steps, Clock: AtStep, PaperUpper: euler, PaperLower: true}
}
