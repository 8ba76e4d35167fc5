package match

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// sets are the sets of states in which a text may be, of one sequence: where a position is masked and
// not being drawn, any token may stand there. Each set has a number, 0 the empty one, and where it
// leads is found once.
type sets struct {
	*Language
	known map[string]int32
	list  [][]uint64 // a bit a state
	size  int        // words of all that is kept
	// after and before are where any token leads from, and which states it leads to, −1 not found.
	after, before []int32
	drawn         [][]arc
	steps         map[int32][]int32 // by class, the state that each state is led to, −1 for none
	moved         map[move]int32
}

// move is a token of a class behind a set of states, or before it.
type move struct {
	set, class int32
	back       bool
}

// mostSize bounds what sets hold, and the work to find them, beyond which they are found anew.
const mostSize = 1 << 23

func newSets(l *Language) *sets {
	s := &sets{Language: l, known: make(map[string]int32), steps: make(map[int32][]int32), moved: make(map[move]int32)}
	s.number(s.empty())
	return s
}

// empty is a set to be filled.
func (s *sets) empty() []uint64 { return make([]uint64, (len(s.arcs)+63)/64) }

func put(set []uint64, state int32) { set[state/64] |= 1 << (state % 64) }

func has(set []uint64, state int32) bool { return set[state/64]>>(state%64)&1 == 1 }

// each hands do the states of a set.
func each(set []uint64, do func(state int32)) {
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			do(int32(64*i + bits.TrailingZeros64(word)))
		}
	}
}

// number is that of a set.
func (s *sets) number(set []uint64) int32 {
	key := make([]byte, 0, 8*len(set))
	for _, word := range set {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	n, ok := s.known[string(key)]
	if !ok {
		n = int32(len(s.list))
		s.known[string(key)] = n
		s.list, s.after, s.before, s.drawn = append(s.list, set), append(s.after, -1), append(s.before, -1), append(s.drawn, nil)
		s.size += 2*len(set) + 8
	}
	return n
}

// numberOf is that of a set of some states.
func (s *sets) numberOf(states ...int32) int32 {
	set := s.empty()
	for _, x := range states {
		put(set, x)
	}
	return s.number(set)
}

// anyAfter is where any token leads from a set.
func (s *sets) anyAfter(set int32) int32 {
	if s.after[set] < 0 {
		to := s.empty()
		each(s.list[set], func(x int32) {
			for _, a := range s.arcs[x] {
				put(to, a.to)
			}
		})
		s.after[set] = s.number(to)
	}
	return s.after[set]
}

// anyBefore are the states from which some token leads to a set.
func (s *sets) anyBefore(set int32) int32 {
	if s.before[set] < 0 {
		from := s.empty()
		each(s.list[set], func(x int32) {
			for _, y := range s.from[x] {
				put(from, y)
			}
		})
		s.before[set] = s.number(from)
	}
	return s.before[set]
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

// move is where a token of a class leads from a set or, backwards, the states from which it leads there.
func (s *sets) move(m move) int32 {
	n, ok := s.moved[m]
	if !ok {
		out := s.empty()
		for x, y := range s.step(m.class) {
			switch {
			case y < 0:
			case m.back && has(s.list[m.set], y):
				put(out, int32(x))
			case !m.back && has(s.list[m.set], int32(x)):
				put(out, y)
			}
		}
		n = s.number(out)
		s.moved[m] = n
	}
	return n
}

// meet is what is in both sets.
func (s *sets) meet(a, b int32) int32 {
	both := slices.Clone(s.list[a])
	for i := range both {
		both[i] &= s.list[b][i]
	}
	return s.number(both)
}

// arcsOf lead from a set to sets, by the token that is drawn.
func (s *sets) arcsOf(set int32) []arc {
	if s.drawn[set] != nil {
		return s.drawn[set]
	}
	// Classes with one sum of hashes of the states that they lead to lead to one set.
	sums, of := make([]uint64, len(s.members)), make(map[uint64]int)
	all := func(do func(to, class int32)) {
		each(s.list[set], func(x int32) {
			for _, a := range s.arcs[x] {
				for _, c := range a.classes {
					do(a.to, c)
				}
			}
		})
	}
	visited := 0
	all(func(to, class int32) {
		sums[class] += hash(0, to)
		visited++
	})
	var groups []arc
	first, reached := make([]int, len(sums)), [][]uint64{}
	for c, sum := range sums {
		i, ok := of[sum]
		if sum == 0 {
			continue
		} else if !ok {
			i = len(groups)
			of[sum], groups, reached = i, append(groups, arc{}), append(reached, s.empty())
			first[c] = i + 1
		}
		groups[i].classes = append(groups[i].classes, int32(c))
	}
	all(func(to, class int32) {
		if i := first[class]; i > 0 {
			put(reached[i-1], to)
		}
	})
	for i := range groups {
		groups[i].to = s.number(reached[i])
	}
	s.size += len(sums) + visited/64
	s.drawn[set] = groups
	return groups
}

// hash is the finalizer of SplitMix64, of two states.
func hash(from, to int32) uint64 {
	x := (uint64(from)<<32 | uint64(to+1)) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
