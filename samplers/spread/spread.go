package spread

import (
	"cmp"
	"fmt"
	"sync"

	"mdmgen/samplers"
	"mdmgen/samplers/plan"
)

// Spread describes the sampler.
var Spread = samplers.Descriptor{
	Name:    "spread",
	Common:  true,
	Summary: "groups found by their predicted error, for a number of calls",
	Law: "The free positions are cut into N groups with the least sum of pair interactions that is found, taken from an interaction profile of the network: the least of all for up to 12 positions, and else the best of several orders, improved by swaps and moves of positions. Tokens of a group are independent. " +
		"Groups of a dense stretch are shifted cyclically and reflected at random; groups of scattered positions are the same for every sample. Without a profile, interactions are assumed to fall with the square of the distance." + plan.AtCount,
	Calls:  samplers.Groups,
	Cost:   "One call per group: min(N, d).",
	Source: "This program; docs/research/interactions.md.",
	Flags:  []string{"steps"},
}

// NewSpread makes the sampler with b.Steps calls, using a profile; nil is [Assumed].
func NewSpread(in *Interactions, b samplers.Build) (*plan.Method, error) {
	*b.Steps = cmp.Or(*b.Steps, samplers.DefaultSteps)
	in = cmp.Or(in, Assumed)
	s, n := &spread{calls: *b.Steps, in: in}, *b.Steps
	return &plan.Method{Planner: moved{
		groups: func(free []int) [][]int { return s.best(free).Groups },
		calls:  func(d int) int { return min(n, d) },
		moves:  dense,
	}}, in.Check()
}

// spread caches the best groups of each set of free positions.
type spread struct {
	calls int
	in    *Interactions

	mutex sync.Mutex
	known map[string]Best
}

// maxKnown bounds the size of known: one set of positions for each template.
const maxKnown = 256

func (s *spread) best(free []int) Best {
	key := fmt.Sprint(len(free))
	if !dense(free) {
		key = fmt.Sprint(free)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if got, ok := s.known[key]; ok {
		return got
	}
	if len(s.known) >= maxKnown || s.known == nil {
		s.known = make(map[string]Best)
	}
	got := Choose(s.in, free, s.calls)
	s.known[key] = got
	return got
}

// dense reports whether positions, which are ascending, have no gap.
func dense(free []int) bool {
	return len(free) == 0 || free[len(free)-1]-free[0] == len(free)-1
}
