package spread

import (
	"math"

	"mdmgen/samplers"
	"mdmgen/samplers/plan"
)

// moved is a planner of groups of ranks, whose positions are determined by a uniform [motion].
type moved struct {
	// groups returns the groups of free positions, and calls their number for d positions.
	groups func(free []int) [][]int
	calls  func(d int) int
	// moves reports whether the groups of free positions are moved; nil if they never are.
	moves func(free []int) bool
}

func (s moved) Plan(p *plan.Plan) error { return s.add(p, drawn) }

// List repeats the only plan of groups that are not moved, as often as those of a dense stretch are
// listed.
func (s moved) List(p *plan.Plan, i int) error {
	return s.add(p, func(_ *plan.Plan, free []int) motion { return motion{len(free), i / 2, i%2 == 1} })
}

// add adds the groups after a motion.
func (s moved) add(p *plan.Plan, by func(p *plan.Plan, free []int) motion) error {
	free := freeOf(p)
	m := motion{d: len(free)}
	if s.moves != nil && s.moves(free) {
		m = by(p, free)
	}
	for _, ranks := range s.groups(free) {
		group := make([]int, len(ranks))
		for i, r := range ranks {
			group[i] = free[m.of(r)]
		}
		p.AddGroup(group...)
	}
	return nil
}

func (s moved) Plans(d int) float64 {
	if s.moves == nil {
		return 1
	}
	return math.Max(1, 2*float64(d))
}

func (s moved) Calls(d int) (blocks, left float64, err error) {
	return float64(s.calls(d)), 0, nil
}

func (s moved) Law() samplers.Planned { return plan.ListLaw(s.Plans, s.List) }
