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
	Summary: "the groups of least predicted error for a number of calls",
	Law: "The free positions are cut into N groups whose pair interactions, by an interaction profile of the network, have the least sum: the best cut of several orders, then the best swaps of positions. Tokens of a group are independent. " +
		"Groups of a dense stretch are shifted cyclically and reflected at random; those of scattered positions are the same for every sequence. Without a profile interactions are assumed to fall with the square of the distance. " +
		"A time-conditioned network is asked at masked fraction m/(d+1), m of d free positions being masked.",
	Calls:  "number of groups",
	Cost:   "The number of groups: min(N, d).",
	Source: "This program; docs/research/interactions.md.",
	Flags:  []string{"steps"},
}

// NewSpread makes the sampler of so many calls, by a profile; nil is [Assumed].
func NewSpread(steps *int, in *Interactions) (*plan.Method, error) {
	*steps = cmp.Or(*steps, samplers.DefaultSteps)
	in = cmp.Or(in, Assumed)
	return &plan.Method{Planner: &spread{calls: *steps, in: in}}, in.Check()
}

// spread keeps the best groups of each set of free positions that it has met.
type spread struct {
	calls int
	in    *Interactions

	mutex sync.Mutex
	known map[string]Best
}

// mostKnown bounds the memory of known: one set of positions for each template.
const mostKnown = 256

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
	if len(s.known) >= mostKnown || s.known == nil {
		s.known = make(map[string]Best)
	}
	got := Choose(s.in, free, s.calls)
	s.known[key] = got
	return got
}

func (s *spread) Plan(p *plan.Plan) error {
	free := freeOf(p)
	m := motion{d: len(free)}
	if dense(free) {
		m = drawn(p, free)
	}
	addMoved(p, free, s.best(free).Groups, m)
	return nil
}

// Plans is that of a dense stretch, which is the greatest.
func (s *spread) Plans(d int) float64 { return motions(d) }

// List lists the only plan of scattered positions as often as a dense stretch has plans.
func (s *spread) List(p *plan.Plan, i int) error {
	free := freeOf(p)
	m := motion{d: len(free)}
	if dense(free) {
		m = numbered(len(free), i)
	}
	addMoved(p, free, s.best(free).Groups, m)
	return nil
}

func (s *spread) Calls(d int) (blocks, left float64, err error) {
	return float64(min(s.calls, d)), 0, nil
}

func (s *spread) Law() samplers.Law { return law }

// dense reports whether positions, ascending, have no gap.
func dense(free []int) bool {
	return len(free) == 0 || free[len(free)-1]-free[0] == len(free)-1
}
