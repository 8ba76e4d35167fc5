package match

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// sets holds the sets of states in which the text of one sequence may be: any token is possible at
// a position that is masked and not being drawn. Each set has a number, 0 for the empty set, and
// its transitions are computed once.
type sets struct {
	*Language
	known map[string]int32
	list  [][]uint64 // one bit per state
	size  int        // words of all memory kept
	drawn map[int32][]arc
	moved map[move]int32
}

// move is a token of a class after a set of states, or before it.
type move struct {
	set, class int32
	back       bool
}

// anyClass is the class of a position at which any token is possible.
const anyClass = -1

// maxSize bounds the memory of sets and the work to compute it; beyond it they are built again.
const maxSize = 1 << 23

func newSets(l *Language) *sets {
	s := &sets{Language: l, known: make(map[string]int32), drawn: make(map[int32][]arc), moved: make(map[move]int32)}
	s.number(s.empty())
	return s
}

// empty returns an empty set.
func (s *sets) empty() []uint64 { return make([]uint64, (len(s.arcs)+63)/64) }

func put(set []uint64, state int32) { set[state/64] |= 1 << (state % 64) }

func has(set []uint64, state int32) bool { return set[state/64]>>(state%64)&1 == 1 }

// each calls do with the states of a set.
func each(set []uint64, do func(state int32)) {
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			do(int32(64*i + bits.TrailingZeros64(word)))
		}
	}
}

// number returns the number of a set.
func (s *sets) number(set []uint64) int32 {
	key, _ := binary.Append(nil, binary.LittleEndian, set) // Numbers cannot fail.
	n, ok := s.known[string(key)]
	if !ok {
		n = int32(len(s.list))
		s.known[string(key)] = n
		s.list = append(s.list, set)
		s.size += 2*len(set) + 8
	}
	return n
}

// numberOf returns the number of a set of states.
func (s *sets) numberOf(states ...int32) int32 {
	set := s.empty()
	for _, x := range states {
		put(set, x)
	}
	return s.number(set)
}

// move returns the set that a token of a class leads to from a set or, backwards, the states from
// which it leads there.
func (s *sets) move(m move) int32 {
	if n, ok := s.moved[m]; ok {
		return n
	}
	arcs, out := s.arcs, s.empty()
	if m.back {
		arcs = s.Language.back
	}
	each(s.list[m.set], func(x int32) {
		for _, a := range arcs[x] {
			if !has(out, a.to) && a.has(m.class) {
				put(out, a.to)
			}
		}
	})
	s.size += 4
	s.moved[m] = s.number(out)
	return s.moved[m]
}

// meet returns the intersection of two sets.
func (s *sets) meet(a, b int32) int32 {
	both := slices.Clone(s.list[a])
	for i := range both {
		both[i] &= s.list[b][i]
	}
	return s.number(both)
}

// arcsOf returns the arcs from a set to sets, by the drawn token.
func (s *sets) arcsOf(set int32) []arc {
	arcs, ok := s.drawn[set]
	if ok {
		return arcs
	}
	// Classes with equal sums of hashes of the states that they lead to lead to one set.
	all := func(do func(to, class int32)) {
		each(s.list[set], func(x int32) {
			for _, a := range s.arcs[x] {
				for _, c := range a.classes {
					do(a.to, c)
				}
			}
		})
	}
	sums := make([]uint64, len(s.members))
	all(func(to, class int32) { sums[class] += hash(0, to) })
	group, members := alike(sums)
	reached := make([][]uint64, len(members))
	for i := range reached {
		reached[i] = s.empty()
	}
	all(func(to, class int32) { put(reached[group[class]], to) })
	for i, classes := range members[1:] {
		arcs = append(arcs, arc{s.number(reached[i+1]), classes})
	}
	s.size += len(sums)
	s.drawn[set] = arcs
	return arcs
}

// hash is the finalizer of SplitMix64 on two states.
func hash(from, to int32) uint64 {
	x := (uint64(from)<<32 | uint64(to+1)) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
