package plan

import (
	"cmp"

	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// ParallelFHS describes the sampler.
var ParallelFHS = Sampler{New: newGroups, Descriptor: samplers.Descriptor{
	Name:    "parallel-fhs",
	Summary: "First-Hitting order in groups, one call per group",
	Law: "Order and times are as in fhs. The order is cut into groups. A group's call queries the network at the group's first hitting time, and its tokens are independent. " +
		"The sizes equal, cos2 and cosine cut d positions into N groups; a list gives the sizes in order. With groups of one it is fhs.",
	Calls:  samplers.Groups,
	Cost:   "One call per group: min(N, d).",
	Source: "Zheng et al., arXiv 2409.02908, Algorithm 2; cos2: Zhang and Syed, arXiv 2508.04884; cosine: MaskGIT, arXiv 2202.04200.",
	Flags:  []string{"sizes", "steps"},
}}

// ParseSizes reads the sizes, and sets the options in effect.
func (o *Options) ParseSizes(b samplers.Build) (schedule.Sizes, error) {
	curve, list, err := schedule.ParseSizes(o.Sizes)
	if err != nil {
		return schedule.Sizes{}, err
	}
	if o.Sizes = cmp.Or(o.Sizes, "equal"); list != nil {
		return schedule.ListSizes(list), nil
	}
	*b.Steps = cmp.Or(*b.Steps, samplers.DefaultSteps)
	return schedule.NewSizes(curve, *b.Steps), nil
}

func newGroups(o *Options, b samplers.Build) (*Method, error) {
	sizes, err := o.ParseSizes(b)
	return &Method{Planner: parallelFHS{sizes}}, err
}

// parallelFHS reveals FHS's order in groups (Zheng et al., Algorithm 2): one call for each group,
// at the group's first hitting time, with independent tokens.
type parallelFHS struct{ sizes schedule.Sizes }

func (s parallelFHS) Plan(p *Plan) error {
	sizes, err := s.sizes.Of(len(p.Reveals))
	if err != nil {
		return err
	}
	at := 0
	for i, size := range sizes {
		first := p.Reveals[at]
		p.Begin(first.U, schedule.ThetaOf(first.U), i)
		for _, r := range p.Reveals[at : at+size] {
			p.Add(r.Position, r.U)
		}
		at += size
	}
	return nil
}

func (s parallelFHS) Calls(d int) (blocks, left float64, err error) {
	sizes, err := s.sizes.Of(d)
	return float64(len(sizes)), 0, err
}

func (s parallelFHS) Law() samplers.Planned { return samplers.BySizes{Of: s.sizes.Of, AtHit: true} }
