package spread

import (
	"cmp"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/plan"
)

// DefaultDistance is the default least distance between positions that apart reveals together.
const DefaultDistance = 8

// Apart describes the sampler.
var Apart = samplers.Descriptor{
	Name:    "apart",
	Summary: "first-hitting order in groups of positions at least a distance apart",
	Law:     "Positions wait in the order of fhs. A group takes from the front each position that is at least D (--set distance=D) away from all positions in the group, until it has d/N of them, rounded up, or no waiting position fits. The others wait for the next group. Tokens of a group are independent." + plan.AtCount,
	Calls:   samplers.Groups,
	Cost:    "One call per group: at least ⌈d/⌈d/N⌉⌉, and more if positions are too close together to fill groups.",
	Source:  "This program; parallel-fhs with a least distance.",
	Flags:   []string{"distance", "steps"},
}

// NewApart makes the sampler, with groups sized for steps calls and a least distance.
func NewApart(steps, distance *int) *plan.Method {
	*steps, *distance = cmp.Or(*steps, samplers.DefaultSteps), cmp.Or(*distance, DefaultDistance)
	return &plan.Method{Planner: apart{*steps, *distance}}
}

type apart struct{ steps, distance int }

func (s apart) Plan(p *plan.Plan) error {
	waiting := make([]int, len(p.Reveals))
	for i, r := range p.Reveals {
		waiting[i] = r.Position
	}
	most := (len(waiting) + s.steps - 1) / s.steps
	for len(waiting) > 0 {
		var group []int
		waiting = slices.DeleteFunc(waiting, func(l int) bool {
			near := func(other int) bool { return max(l-other, other-l) < s.distance }
			if len(group) == most || slices.ContainsFunc(group, near) {
				return false
			}
			group = append(group, l)
			return true
		})
		p.AddGroup(group...)
	}
	return nil
}

func (s apart) Plans(d int) float64 { return math.Gamma(float64(d + 1)) }

func (s apart) List(p *plan.Plan, i int) error {
	free := freeOf(p)
	for at, rank := range permutation(len(free), i) {
		p.Reveals[at].Position = free[rank]
	}
	return s.Plan(p)
}

// Calls returns NaN, since there is no closed form.
func (s apart) Calls(int) (blocks, left float64, err error) { return math.NaN(), 0, nil }

func (s apart) Law() samplers.Planned { return plan.ListLaw(s.Plans, s.List) }
