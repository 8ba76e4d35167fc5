package plan

import (
	"cmp"

	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
)

// ParallelFHS describes the sampler.
var ParallelFHS = samplers.Descriptor{
	Name:    "parallel-fhs",
	Summary: "first-hitting order in groups, one call per group",
	Law: "Order and times are as in fhs. The order is cut into groups. A group's call queries the network at the group's first hitting time, and its tokens are independent. " +
		"--sizes equal, cos2 and cosine cut d positions into N groups; profile cuts them into the groups of least expected loss under a loss profile of the network; a list gives the sizes in order. With groups of one it is fhs.",
	Calls:  samplers.Groups,
	Cost:   "One call per group: min(N, d).",
	Source: "Zheng et al., arXiv 2409.02908, Algorithm 2; cos2: Zhang and Syed, arXiv 2508.04884; cosine: MaskGIT, arXiv 2202.04200.",
	Flags:  []string{"sizes", "steps"},
}

// PairedFHS describes the sampler.
var PairedFHS = samplers.Descriptor{
	Name:    "paired-fhs",
	Summary: "experimental: parallel-fhs in pairs of groups; the second extrapolates from the first",
	Law: "Groups are as in parallel-fhs, taken in pairs of sizes a and b. Tokens of the second group are drawn from max((1+w)p − w·q, κp), normalised. Here p and q are the rows of this call and of the previous call, w = (a+b)(a+b−1)/(2ab) − 1, and κ is floor. " +
		"A last group without a partner is drawn from its rows as they are. A time-conditioned network is queried at masked fraction m/d when m of d free positions are masked, or at the end of its noise if it has no row at 1. Keep the sizes equal: unequal sizes make w large.",
	Calls:  samplers.Groups,
	Cost:   "One call per group: min(N, d). The first call of a pair returns rows for both groups.",
	Source: "A constant-weight form of Zheng et al., arXiv 2409.02908, Algorithm 3.",
	Flags:  []string{"sizes", "steps", "floor"},
}

// GroupOptions selects a sampler that reveals FHS's order in groups.
type GroupOptions struct {
	Sizes   string
	Steps   int
	Profile []float64
	Floor   *float64
}

// Parse reads the sizes, and sets o to the options in effect.
func (o *GroupOptions) Parse() (schedule.Sizes, error) {
	curve, list, err := schedule.ParseSizes(o.Sizes)
	if err != nil {
		return schedule.Sizes{}, err
	}
	if o.Sizes = cmp.Or(o.Sizes, "equal"); list != nil {
		return schedule.ListSizes(list), nil
	}
	o.Steps = cmp.Or(o.Steps, samplers.DefaultSteps)
	return schedule.NewSizes(curve, o.Steps, o.Profile)
}

// NewGroups makes the sampler, and sets o to the options in effect.
func NewGroups(sampler string, o *GroupOptions, c samplers.Spec) (*Method, error) {
	sizes, err := o.Parse()
	if err != nil {
		return nil, err
	}
	if sampler == ParallelFHS.Name {
		return &Method{Planner: parallelFHS{sizes}}, nil
	}
	o.Floor = new(samplers.ValueOr(o.Floor, DefaultFloor))
	return &Method{Planner: lookBack{sizes, *o.Floor, c.MostMasked()}}, nil
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

func (s parallelFHS) Law() samplers.Law {
	return samplers.Law{Sizes: s.sizes.Of, Clock: samplers.AtHit}
}

// lookBack is paired FHS: parallel FHS with a fill of second order. Blocks form pairs of sizes a and
// b. Tokens of the second block of a pair are drawn from p + w·(p − p′) with a floor, where p′ is the
// row of the previous call. The constant w = (a+b)(a+b−1)/(2ab) − 1 makes the dependence of the
// second block on the first equal, in the mean over pairs of positions, to that of a sequential draw.
//
// A time-conditioned network is queried at λ = m/d with m of d free positions masked.
type lookBack struct {
	sizes schedule.Sizes
	floor float64
	// most is the greatest λ at which the network is queried: 1, or the end of its noise if it has
	// no row at 1.
	most float64
}

func (s lookBack) Plan(p *Plan) error {
	d := len(p.Reveals)
	for i := range p.Reveals {
		p.Reveals[i].U = min(float64(d-i)/float64(d), s.most)
	}
	if err := (parallelFHS{s.sizes}).Plan(p); err != nil {
		return err
	}
	for n := 1; n < len(p.Blocks); n += 2 {
		if a, b := float64(len(p.Blocks[n-1].Positions)), float64(len(p.Blocks[n].Positions)); a*b > 1 {
			p.lookBack(n, (a+b)*(a+b-1)/(2*a*b)-1, s.floor)
		}
	}
	return nil
}

func (s lookBack) Calls(d int) (blocks, left float64, err error) {
	return parallelFHS{s.sizes}.Calls(d)
}

// lookBack makes block n look back at the block before it.
func (p *Plan) lookBack(n int, weight, floor float64) {
	b := &p.Blocks[n]
	p.Blocks[n-1].Ahead = b.Positions
	b.Weight, b.Floor = weight, floor
}

func (s lookBack) Law() samplers.Law {
	return samplers.Law{Sizes: s.sizes.Of, LookBack: true, Floor: s.floor, Clock: samplers.AtCount}
}
