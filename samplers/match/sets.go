package match

import (
	"encoding/binary"
	"slices"
)

// sets are the sets of states in which a text may be, of one sequence: where a position is masked and
// not being drawn, any token may stand there. Each set has a number, 0 the empty one, and where it
// leads is found once.
type sets struct {
	*Language
	known map[string]int32
	list  [][]int32 // ascending states
	size  int       // of all sets and arcs
	// after and ahead are where any token leads from, and which states it leads to, −1 not found.
	after, ahead []int32
	drawn        [][]arc
	steps        map[int32][]int32 // by class, the state that each state is led to, −1 for none
	forth, back  map[pair]int32    // by set and class
	meets        map[pair]int32
}

type pair struct{ a, b int32 }

// mostSize bounds the numbers that sets hold, beyond which they are found anew.
const mostSize = 1 << 24

func newSets(l *Language) *sets {
	s := &sets{Language: l, known: make(map[string]int32), steps: make(map[int32][]int32), forth: make(map[pair]int32), back: make(map[pair]int32), meets: make(map[pair]int32)}
	s.number(nil)
	return s
}

// number is that of a set of states, sorted here.
func (s *sets) number(states []int32) int32 {
	slices.Sort(states)
	states = slices.Compact(states)
	key := make([]byte, 0, 4*len(states))
	for _, x := range states {
		key = binary.LittleEndian.AppendUint32(key, uint32(x))
	}
	n, ok := s.known[string(key)]
	if !ok {
		n = int32(len(s.list))
		s.known[string(key)] = n
		s.list, s.after, s.ahead, s.drawn = append(s.list, states), append(s.after, -1), append(s.ahead, -1), append(s.drawn, nil)
		s.size += len(states) + 8
	}
	return n
}

// anyAfter is where any token leads from a set.
func (s *sets) anyAfter(set int32) int32 {
	if s.after[set] < 0 {
		var to []int32
		for _, x := range s.list[set] {
			for _, a := range s.arcs[x] {
				to = append(to, a.to)
			}
		}
		s.after[set] = s.number(to)
	}
	return s.after[set]
}

// anyBefore are the states from which some token leads to a set.
func (s *sets) anyBefore(set int32) int32 {
	if s.ahead[set] < 0 {
		var from []int32
		for _, x := range s.list[set] {
			from = append(from, s.before[x]...)
		}
		s.ahead[set] = s.number(from)
	}
	return s.ahead[set]
}

// step is where the tokens of a class lead from each state.
func (s *sets) step(class int32) []int32 {
	to, ok := s.steps[class]
	if !ok {
		to = slices.Repeat([]int32{-1}, len(s.arcs))
		for x, arcs := range s.arcs {
			for _, a := range arcs {
				if _, ok := slices.BinarySearch(a.classes, class); ok {
					to[x] = a.to
				}
			}
		}
		s.steps[class] = to
		s.size += len(to)
	}
	return to
}

// tokenAfter is where a token of a class leads from a set.
func (s *sets) tokenAfter(set, class int32) int32 {
	n, ok := s.forth[pair{set, class}]
	if !ok {
		var to []int32
		for _, x := range s.list[set] {
			if y := s.step(class)[x]; y >= 0 {
				to = append(to, y)
			}
		}
		n = s.number(to)
		s.forth[pair{set, class}] = n
	}
	return n
}

// tokenBefore are the states from which a token of a class leads to a set.
func (s *sets) tokenBefore(set, class int32) int32 {
	n, ok := s.back[pair{set, class}]
	if !ok {
		var from []int32
		for x, y := range s.step(class) {
			if _, ok := slices.BinarySearch(s.list[set], y); ok {
				from = append(from, int32(x))
			}
		}
		n = s.number(from)
		s.back[pair{set, class}] = n
	}
	return n
}

// meet is what is in both sets.
func (s *sets) meet(a, b int32) int32 {
	n, ok := s.meets[pair{a, b}]
	if !ok {
		var both []int32
		for _, x := range s.list[a] {
			if _, ok := slices.BinarySearch(s.list[b], x); ok {
				both = append(both, x)
			}
		}
		n = s.number(both)
		s.meets[pair{a, b}] = n
	}
	return n
}

// arcsOf lead from a set to sets, by the token that is drawn.
func (s *sets) arcsOf(set int32) []arc {
	if s.drawn[set] != nil {
		return s.drawn[set]
	}
	if states := s.list[set]; len(states) == 1 {
		arcs := slices.Clone(s.arcs[states[0]])
		for i := range arcs {
			arcs[i].to = s.number([]int32{arcs[i].to})
		}
		s.drawn[set] = arcs
		return arcs
	}
	byClass := make(map[int32][]int32)
	for _, x := range s.list[set] {
		for _, a := range s.arcs[x] {
			for _, c := range a.classes {
				byClass[c] = append(byClass[c], a.to)
			}
		}
	}
	at := make(map[int32]int)
	arcs := []arc{}
	for c, states := range byClass {
		to := s.number(states)
		i, ok := at[to]
		if !ok {
			i = len(arcs)
			at[to], arcs = i, append(arcs, arc{to: to})
		}
		arcs[i].classes = append(arcs[i].classes, c)
	}
	s.size += len(byClass)
	for _, a := range arcs {
		slices.Sort(a.classes)
	}
	slices.SortFunc(arcs, func(a, b arc) int { return int(a.to - b.to) })
	s.drawn[set] = arcs
	return arcs
}
