package samplers

import "sort"

// gridPlan is the law of Euler, Tweedie and τ-leaping: in each step of a grid the
// masked positions are revealed independently, and those of one step are filled by
// one call, on the state at its start and at its time θ_k. What its rules are is
// told at [Rule].
//
// Sources: "Sharp Convergence Rates for Masked Diffusion Models", sections on
// Euler and on D3PM; Campbell et al., arXiv 2205.14987 (τ-leaping); Lou et al., arXiv
// 2310.16834 (Tweedie); Sahoo et al., arXiv 2406.07524 (ancestral sampling).
type gridPlan struct{ steps Steps }

func (g gridPlan) plan(p *Plan) error {
	grid, stay := g.steps.Grid, g.steps.Stay
	n := len(stay) - 1
	p.LeftLambda, p.LeftTheta = grid.Lambda[n], grid.Theta[n]
	k := -1
	for i, r := range p.reveals {
		if r.u < stay[n] {
			for _, left := range p.reveals[i:] {
				p.Left = append(p.Left, left.position)
			}
			return nil
		}
		if k < 0 || r.u < stay[k+1] {
			// The step with S_{k+1} ≤ U < S_k; later reveals are in later steps.
			from := k + 1
			k = from + sort.Search(n-1-from, func(j int) bool { return stay[from+j+1] <= r.u })
			p.begin(grid.Lambda[k], grid.Theta[k], k)
		}
		// Within the step U is linear in λ: for Tweedie that is the law of the hitting time.
		inside := (r.u - stay[k+1]) / (stay[k] - stay[k+1])
		p.add(r.position, grid.Lambda[k+1]+inside*(grid.Lambda[k]-grid.Lambda[k+1]))
	}
	return nil
}

func (g gridPlan) calls(d int) (blocks, left float64, err error) {
	blocks, left = g.steps.ExpectedCalls(d)
	return blocks, left, nil
}
