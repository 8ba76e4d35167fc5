package spread

import (
	"cmp"
	"math/bits"

	"mdmgen/samplers"
	"mdmgen/samplers/plan"
)

// Bisection describes the sampler.
var Bisection = samplers.Descriptor{
	Name:    "bisection",
	Summary: "groups of distant positions, each halving the remaining gaps",
	Law:     "Positions are put in van der Corput's order, in which each next position halves a gap. The order is shifted cyclically and reflected at random, and cut into N groups, whose tokens are independent. In a dense stretch of positions, groups hold no neighbours until the last half." + plan.AtCount,
	Calls:   samplers.Groups,
	Cost:    "One call per group: min(N, d).",
	Source:  "Bisection order, arXiv 2606.22976. The shift, the reflection and the choice of sizes are this program's.",
	Flags:   []string{"sizes", "steps"},
}

// NewBisection makes the sampler, and sets o to the options in effect.
func NewBisection(o *plan.GroupOptions) (*plan.Method, error) {
	sizes, err := o.Parse()
	return &plan.Method{Planner: moved{
		groups: func(free []int) ([][]int, error) {
			of, err := sizes.Of(len(free))
			return cut(vanDerCorput(len(free)), of), err
		},
		calls: func(d int) (int, error) {
			of, err := sizes.Of(d)
			return len(of), err
		},
		moves: func([]int) bool { return true },
		sizes: sizes.Of,
	}}, err
}

// vanDerCorput returns 0..d−1 in the order of the radical inverses of 0, 1, 2, … in base 2: 0, then
// d/2, then d/4 and 3d/4, and so on.
func vanDerCorput(d int) []int {
	order := make([]int, 0, d)
	width := bits.Len(uint(cmp.Or(d, 1) - 1))
	taken := make([]bool, d)
	for k := range 1 << width {
		inverse := int(bits.Reverse64(uint64(k)) >> (64 - width))
		if r := inverse * d >> width; r < d && !taken[r] {
			taken[r] = true
			order = append(order, r)
		}
	}
	return order
}
