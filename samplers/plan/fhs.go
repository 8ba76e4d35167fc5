package plan

import (
	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// aheadCost is the sentence that the cost of a sampler with look-ahead ends with.
const aheadCost = " With lookahead K there are fewer calls, of up to K canvases each. Samples are the same as without it, given the same draw, which then defaults to gumbel."

// AtCount ends the law of a sampler without times.
const AtCount = " A time-conditioned network is queried at masked fraction m/(d+1) when m of d free positions are masked."

// FHS describes the sampler.
var FHS = Sampler{New: newFHS, Descriptor: samplers.Descriptor{
	Name:    "fhs",
	Common:  true,
	Aliases: []string{"first-hitting"},
	Summary: "First-Hitting: one position per call, and no error but the network's",
	Law: "With n masked positions at masked fraction L, the next reveal is at L·u^(1/n), u uniform on (0,1). Its position is uniform among the masked ones. Its token is drawn from the network's row on the canvas before the reveal, queried at the time of the reveal. " +
		"Time is not discretised, so the only error is the network's. With many positions, the first reveal queries a time-conditioned network at −log α of up to 36, beyond its training range (up to 6.9 for the loglinear noise).",
	Calls:  "d",
	Cost:   "d network calls for d free positions." + aheadCost,
	Source: "Algorithm 1 of \"Sharp Convergence Rates for Masked Diffusion Models\"; Zheng et al., arXiv 2409.02908.",
	Flags:  []string{"lookahead"},
}}

func newFHS(_ *Options, b samplers.Build) (*Method, error) { return NewFHS(b.Lookahead), nil }

// NewFHS makes the first-hitting sampler, with look-ahead over the given number of canvases.
func NewFHS(lookahead int) *Method { return &Method{Planner: fhs{}, Lookahead: lookahead} }

// fhs is the first-hitting sampler of Zheng et al., arXiv 2409.02908, Algorithm 1 of "Sharp Convergence
// Rates for Masked Diffusion Models": d blocks of one position. From n masked positions at masked
// fraction λ_n the next reveal is at λ_{n−1} = λ_n·u^(1/n). Its position is uniform among the masked, and
// its token is drawn from the network's row on the state before the reveal, at the time of the reveal.
type fhs struct{}

func (fhs) Plan(p *Plan) error {
	for i, r := range p.Reveals {
		p.Begin(r.U, schedule.ThetaOf(r.U), i)
		p.Add(r.Position, r.U)
	}
	return nil
}

func (fhs) Calls(d int) (blocks, left float64, err error) { return float64(d), 0, nil }

func (fhs) Law() samplers.Planned { return samplers.BySizes{AtHit: true} }
