package plan

import (
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// Uniformization describes the sampler.
var Uniformization = Sampler{New: onGrid(schedule.RuleUniformization), Descriptor: samplers.Descriptor{
	Name:    "uniformization",
	Summary: "exact reverse process by Poisson events, most of which reveal nothing",
	Law: "In each segment of a grid, events come at the constant rate d·r(s), where s is the segment's later end and r(t) = 1/(e^t−1). With m positions masked, an event at t reveals one of them, chosen uniformly, with probability m·r(t)/(d·r(s)). " +
		"Its token is drawn from the row on the canvas before it, queried at t. This is the exact chain from T to delta on any grid: the masked fractions of the reveals are independent and uniform below that of T. " +
		"One more call fills the positions below the masked fraction of delta, a share of about delta; with finish=leave they stay masked. Thinning does not need the network, because its rows sum to 1. delta must be positive. The default grid is the paper's.",
	Calls:  "reveals, about d",
	Cost:   "One call per reveal: d(1−L(delta)/L(T)) in expectation, where L = 1−e^(−t). One more call if positions remain to fill." + aheadCost,
	Source: "Chen and Ying, arXiv 2402.08095; \"Sharp Convergence Rates for Masked Diffusion Models\", related work.",
	Flags:  slices.Concat(gridFlags, []string{"lookahead"}),
}}

// MATU describes the sampler.
var MATU = Sampler{New: onGrid(schedule.RuleMATU), Descriptor: samplers.Descriptor{
	Name:    "matu",
	Aliases: []string{"aatu"},
	Summary: "mask-aware truncated uniformization: event rates follow the number of masks",
	Law:     "As uniformization, with events at the rate m·r(s), which follows the number m of masked positions. The distribution is the same. Truncation of rates above the bound never acts, because the network's rows sum to 1. All free positions start masked; given text is allowed.",
	Calls:   "reveals, about d",
	Cost:    "One call per reveal, as for uniformization." + aheadCost,
	Source:  "Huang et al., arXiv 2509.21835.",
	Flags:   slices.Concat(gridFlags, []string{"lookahead"}),
}}

// DMPM describes the sampler.
var DMPM = Sampler{New: onGrid(schedule.RuleDMPM), Descriptor: samplers.Descriptor{
	Name:    "dmpm",
	Summary: "rates frozen during a step, tokens drawn one after another",
	Law: "In the step from t to t−h in the noise's time, each masked position has a clock of constant rate r(t) and is revealed with probability 1−e^(−h·r(t)). Positions of a step are revealed one at a time, in uniform order. Each is drawn on the canvas with all before it, queried at t. " +
		"Steps reveal too few positions, and query the network at times that are too early; dependence between tokens is exact. For a time-free network, the distribution is fhs's, given that the steps reveal every position.",
	Calls:  "reveals, at most d",
	Cost:   "One call per reveal: d(1−Π_k(1−p_k)) in expectation, where p_k is the reveal probability of step k. One more call if positions remain to fill." + aheadCost,
	Source: "Conforti, Durmus, Pham and Raoul, arXiv 2512.00580; Pham et al., arXiv 2502.07939.",
	Flags:  slices.Concat(gridFlags, []string{"lookahead"}),
}}

// single reveals one position per call, in uniform order, in the steps of a grid. Each token is
// drawn given all tokens revealed before it; only times may be approximate. This is the reverse
// process simulated event by event. Since the rate of a masked position is r(θ) = 1/(e^θ−1) for
// every network, thinning does not need the network, and only reveals take a call, not all events.
//
// Uniformization (Chen and Ying, arXiv 2402.08095): events come from a Poisson process of rate B_k
// = d·r(θ_{k+1}) in segment k; at θ, with m positions masked, an event is a reveal with probability
// m·r(θ)/B_k. MATU (Huang et al., arXiv 2509.21835): the rate follows the masks, m·r(θ_{k+1}). Both
// have the law of the exact chain from T to δ: the λ of the reveals are independent and uniform on
// (0, λ_T), cut at λ_δ. DMPM (Conforti et al., arXiv 2512.00580): in step k each masked position
// has a clock of the constant rate r(θ_k).
type single struct{ steps schedule.Steps }

func (s single) Plan(p *Plan) error {
	grid, atHit := s.steps.Grid, s.steps.Rule.AtHit()
	eachReveal(s.steps, p, func(r Reveal, k int, lambda float64) {
		if atHit {
			lambda = grid.Lambda[0] * r.U
			p.Begin(lambda, schedule.ThetaOf(lambda), k)
		} else {
			p.Begin(grid.Lambda[k], grid.Theta[k], k)
		}
		p.Add(r.Position, lambda)
	})
	return nil
}

func (s single) Calls(d int) (blocks, left float64, err error) {
	_, left = s.steps.ExpectedCalls(d)
	return float64(d) * (1 - s.steps.Left()), left, nil
}

func (s single) Law() samplers.Planned {
	return samplers.ByGrid{Steps: s.steps, OneByOne: true, AtHit: s.steps.Rule.AtHit()}
}
