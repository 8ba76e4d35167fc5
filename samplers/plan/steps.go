package plan

import (
	"slices"
	"sort"

	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// Euler describes the sampler.
var Euler = Sampler{New: onGrid(schedule.RuleEuler), Descriptor: samplers.Descriptor{
	Name:    "euler",
	Summary: "Euler steps on a grid: constant rates during a step",
	Law: "In the step from t to t−h, each masked position is revealed independently with probability h·(−α′(t))/(1−α(t)), which is h/(e^t−1) if α = e^(−t). Positions revealed in one step do not see each other. A probability above 1 is an error that names the step. " +
		"One more call fills the positions that no step reveals; with finish=leave they stay masked.",
	Calls:  "non-empty steps",
	Cost:   "One call per non-empty step, at most min(N, d): Σ_k 1−(1−w_k)^d in expectation, where w_k is the probability that a position is revealed in step k. One more call if positions remain to fill.",
	Source: "Euler's method of \"Sharp Convergence Rates for Masked Diffusion Models\", Theorems 1 to 3; Lou et al., arXiv 2310.16834.",
	Flags:  gridFlags,
}}

// Tweedie describes the sampler.
var Tweedie = Sampler{New: onGrid(schedule.RuleTweedie), Descriptor: samplers.Descriptor{
	Name:    "tweedie",
	Common:  true,
	Aliases: []string{"ancestral", "ddpm", "ddpm-cache", "d3pm", "analytic", "truncated-tau-leaping", "truncated-tau"},
	Summary: "ancestral sampling on a grid: exact reveal times, independent within a step",
	Law: "In the step from t to s < t, each masked position is revealed independently with probability (α(s)−α(t))/(1−α(t)). This is the exact law of its reveal time, on any grid. The only error is that positions revealed in one step do not see each other. " +
		"Only masked fractions matter, so the noise schedule matters only on the uniform grid. For normalised rows, truncated τ-leaping is the same.",
	Calls:  "non-empty steps",
	Cost:   "One call per non-empty step, at most min(N, d): Σ_k 1−(1−w_k)^d in expectation, where w_k is the probability that a position is revealed in step k. One more call if positions remain to fill (never with delta 0).",
	Source: "Section on D3PM of \"Sharp Convergence Rates for Masked Diffusion Models\"; Austin et al., arXiv 2107.03006; Sahoo et al., arXiv 2406.07524 (ddpm); Lou et al., arXiv 2310.16834 (analytic); Dmitriev, Huang and Wei, arXiv 2602.15008 (truncated τ-leaping).",
	Flags:  gridFlags,
}}

// TauLeaping describes the sampler.
var TauLeaping = Sampler{New: newTauLeaping, Descriptor: samplers.Descriptor{
	Name:    "tau-leaping",
	Aliases: []string{"tau"},
	Summary: "Poisson jumps in each step of a grid; any number reveals, or exactly one",
	Law: "In a step with expected count h = Δt·(−α′(t))/(1−α(t)), a masked position makes Poisson(h) jumps. With tau=any, one jump or more reveals it, with probability 1−e^(−h), and the first jump chooses the token. " +
		"With tau=one, exactly one jump reveals it, with probability h·e^(−h); after several it stays masked. Positions revealed in one step do not see each other.",
	Calls:  "non-empty steps",
	Cost:   "One call per non-empty step, at most min(N, d): Σ_k 1−(1−w_k)^d in expectation, where w_k is the probability that a position is revealed in step k. One more call if positions remain to fill.",
	Source: "Campbell et al., arXiv 2205.14987; \"Sharp Convergence Rates for Masked Diffusion Models\", related work.",
	Flags:  slices.Concat(gridFlags, []string{"tau"}),
}}

// gridPlan is the law of Euler, Tweedie and τ-leaping. In each step of a grid the masked positions
// are revealed independently, and those of one step are filled by one call, on the state at its
// start and at its time θ_k. [schedule.Rule] documents the rules.
//
// Sources: "Sharp Convergence Rates for Masked Diffusion Models", sections on
// Euler and on D3PM; Campbell et al., arXiv 2205.14987 (τ-leaping); Lou et al., arXiv
// 2310.16834 (Tweedie); Sahoo et al., arXiv 2406.07524 (ancestral sampling).
type gridPlan struct{ steps schedule.Steps }

func (g gridPlan) Plan(p *Plan) error {
	grid, now := g.steps.Grid, -1
	eachReveal(g.steps, p, func(r Reveal, k int, lambda float64) {
		if k != now {
			now = k
			p.Begin(grid.Lambda[k], grid.Theta[k], k)
		}
		p.Add(r.Position, lambda)
	})
	return nil
}

// eachReveal calls do with the reveals that fall into steps, with their step and masked fraction,
// and adds the others to the plan's Left. Within a step U is linear in λ, which for Tweedie is the
// distribution of the hitting time.
func eachReveal(s schedule.Steps, p *Plan, do func(r Reveal, k int, lambda float64)) {
	n := len(s.Jump)
	p.LeftLambda, p.LeftTheta = s.Grid.Lambda[n], s.Grid.Theta[n]
	k := 0
	for i, r := range p.Reveals {
		if r.U < s.Stay[n] {
			for _, left := range p.Reveals[i:] {
				p.Left = append(p.Left, left.Position)
			}
			return
		}
		if r.U < s.Stay[k+1] {
			// The step with S_{k+1} ≤ U < S_k; later reveals are in the same or later steps.
			k += sort.Search(n-1-k, func(j int) bool { return s.Stay[k+j+1] <= r.U })
		}
		inside := (r.U - s.Stay[k+1]) / (s.Stay[k] - s.Stay[k+1])
		do(r, k, s.Grid.Lambda[k+1]+inside*(s.Grid.Lambda[k]-s.Grid.Lambda[k+1]))
	}
}

func (g gridPlan) Calls(d int) (blocks, left float64, err error) {
	blocks, left = g.steps.ExpectedCalls(d)
	return blocks, left, nil
}

func (g gridPlan) Law() samplers.Planned { return samplers.ByGrid{Steps: g.steps} }
