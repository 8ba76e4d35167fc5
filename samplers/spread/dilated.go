package spread

import (
	"cmp"
	"math"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/plan"
)

// Dilated describes the sampler.
var Dilated = samplers.Descriptor{
	Name:    "dilated",
	Summary: "combs of every N-th position, offsets in random order",
	Law:     "Group k holds the free positions whose rank is o_k modulo N. The offsets o_1, o_2, … are in uniformly random order. Tokens of a group are independent." + plan.AtCount,
	Calls:   samplers.Groups,
	Cost:    "One call per group: min(N, d).",
	Source:  "Dilated groups, arXiv 2506.19037, with uniform offsets instead of the fixed dyadic offsets of dus.",
	Flags:   []string{"steps"},
}

// NewDilated makes the sampler with the given number of groups.
func NewDilated(steps *int) *plan.Method {
	*steps = cmp.Or(*steps, samplers.DefaultSteps)
	return &plan.Method{Planner: dilated{*steps}}
}

type dilated struct{ groups int }

func (s dilated) Plan(p *plan.Plan) error {
	free := freeOf(p)
	n := min(s.groups, len(free))
	// Each position has its own uniform, so those of the first n order the offsets.
	order := make([]int, 0, n)
	for _, r := range p.Reveals {
		if rank, _ := slices.BinarySearch(free, r.Position); rank < n {
			order = append(order, rank)
		}
	}
	s.add(p, free, order)
	return nil
}

func (s dilated) add(p *plan.Plan, free, offsets []int) {
	for _, o := range offsets {
		var group []int
		for r := o; r < len(free); r += len(offsets) {
			group = append(group, free[r])
		}
		p.AddGroup(group...)
	}
}

func (s dilated) Plans(d int) float64 { return math.Gamma(float64(min(s.groups, d) + 1)) }

func (s dilated) List(p *plan.Plan, i int) error {
	free := freeOf(p)
	s.add(p, free, permutation(min(s.groups, len(free)), i))
	return nil
}

func (s dilated) Calls(d int) (blocks, left float64, err error) {
	return float64(min(s.groups, d)), 0, nil
}

func (s dilated) Law() samplers.Planned { return plan.ListLaw(s.Plans, s.List) }

// permutation returns number i of the n! orders of 0..n−1.
func permutation(n, i int) []int {
	left := make([]int, n)
	for k := range left {
		left[k] = k
	}
	out := make([]int, 0, n)
	for n := n; n > 0; n-- {
		k := i % n
		i /= n
		out = append(out, left[k])
		left = slices.Delete(left, k, k+1)
	}
	return out
}
