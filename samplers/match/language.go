package match

import (
	"context"
	"slices"
)

// Vocabulary holds the tokens that may be drawn. It may be shared by goroutines.
type Vocabulary struct {
	texts [][]byte // by token
	end   int
}

// NewVocabulary makes the vocabulary of tokens by their bytes, empty for tokens that are in no
// text. end is the token that fills positions after a text, −1 for none.
func NewVocabulary(texts [][]byte, end int) *Vocabulary {
	v := &Vocabulary{slices.Clone(texts), end}
	if end >= 0 {
		v.texts[end] = nil
	}
	return v
}

// Language is the set of token sequences whose text is in a language, followed by the vocabulary's
// end token. Tokens that lead to the same state from every state form a class. It may be shared by
// goroutines.
type Language struct {
	pattern string
	// class is the class of each token, 0 for tokens in no text; members lists the tokens of each
	// class, ascending.
	class   []int32
	members [][]int32
	// arcs lead from state to state, and back holds them reversed; state 0 is the first.
	arcs   [][]arc
	back   [][]arc
	accept []int32
	least  int // the fewest tokens of a text
	end    int
}

// End returns the token that fills positions after a text, −1 for none.
func (l *Language) End() int { return l.end }

// arc leads to a state, or to a set of states, by the tokens of some classes, which are ascending.
type arc struct {
	to      int32
	classes []int32
}

// has reports whether the arc includes a class.
func (a arc) has(class int32) bool {
	if class == anyClass {
		return true
	}
	_, ok := slices.BinarySearch(a.classes, class)
	return ok
}

// The bounds of a language: on the bytes of tokens visited, which take a few seconds, and on the
// classes in arcs.
const (
	maxVisits = 1 << 32
	maxArcs   = 1 << 24
)

// Language returns the language of a regular expression in the syntax of package regexp, which must
// match the whole text. It may take seconds, unless the context ends, and some 100 MiB.
func (v *Vocabulary) Language(ctx context.Context, pattern string) (*Language, error) {
	d, err := parse(ctx, pattern)
	if err != nil {
		return nil, err
	}
	l := &Language{pattern: pattern, end: v.end}
	if err := l.connect(ctx, v, d); err != nil {
		return nil, err
	}
	if v.end >= 0 {
		l.close(v.end)
	}
	l.back = make([][]arc, len(l.arcs))
	for x, arcs := range l.arcs {
		for _, a := range arcs {
			l.back[a.to] = append(l.back[a.to], arc{int32(x), a.classes})
		}
	}
	if l.least = l.shortest(); l.least < 0 {
		return nil, refuse(pattern, "no text matches it")
	}
	return l, nil
}

// Bytes returns the approximate size of the language in memory.
func (l *Language) Bytes() int {
	n := len(l.pattern) + 8*len(l.class) // class, and members
	for _, arcs := range l.arcs {
		for _, a := range arcs {
			n += 2*32 + 4*len(a.classes) // arcs and back share the classes
		}
	}
	return n
}

// connect computes the states of d between tokens, the classes and the arcs. Tokens form a class if
// the sums of the hashes of their transitions agree.
func (l *Language) connect(ctx context.Context, v *Vocabulary, d *dfa) error {
	states, number, total := []int32{d.start}, map[int32]int32{d.start: 0}, 0
	var visits int64
	sums := make([]uint64, len(v.texts))
	for i := 0; i < len(states); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for id, text := range v.texts {
			to, n := d.after(states[i], text)
			if visits += int64(n); to == 0 || n == 0 {
				continue
			}
			if _, ok := number[to]; !ok {
				number[to] = int32(len(states))
				states = append(states, to)
			}
			sums[id] += hash(int32(i), to)
		}
		if visits > maxVisits {
			return refuse(l.pattern, "with %d tokens building its automaton takes too long: make repeats smaller", len(v.texts))
		}
	}
	l.class, l.members = alike(sums)
	for i, s := range states {
		if err := ctx.Err(); err != nil {
			return err
		}
		var arcs []arc
		place := make(map[int32]int)
		for c := 1; c < len(l.members); c++ {
			to, _ := d.after(s, v.texts[l.members[c][0]])
			if to == 0 {
				continue
			}
			at, ok := place[to]
			if !ok {
				at = len(arcs)
				place[to], arcs = at, append(arcs, arc{to: number[to]})
			}
			arcs[at].classes = append(arcs[at].classes, int32(c))
			total++
		}
		if l.arcs = append(l.arcs, arcs); d.accept[s] {
			l.accept = append(l.accept, int32(i))
		}
		if total > maxArcs {
			return refuse(l.pattern, "with %d tokens its automaton has more than %d arcs: make repeats smaller", len(v.texts), maxArcs)
		}
	}
	return nil
}

// after returns the state after a text, and the number of bytes visited.
func (d *dfa) after(state int32, text []byte) (to int32, visits int) {
	for i, b := range text {
		if state = d.next[state][b]; state == 0 {
			return 0, i + 1
		}
	}
	return state, len(text)
}

// alike groups items with equal sums of hashes, in the order of their first members. Items with sum
// 0 are in group 0, which has no members.
func alike(sums []uint64) (group []int32, members [][]int32) {
	known := map[uint64]int32{0: 0}
	group, members = make([]int32, len(sums)), make([][]int32, 1)
	for i, sum := range sums {
		g, ok := known[sum]
		if !ok {
			g = int32(len(members))
			known[sum], members = g, append(members, nil)
		}
		if group[i] = g; g > 0 {
			members[g] = append(members[g], int32(i))
		}
	}
	return group, members
}

// close allows the end after a text, any number of times.
func (l *Language) close(end int) {
	closed := int32(len(l.arcs))
	l.class[end] = int32(len(l.members))
	a := arc{closed, []int32{l.class[end]}}
	l.members = append(l.members, []int32{int32(end)})
	for _, s := range l.accept {
		l.arcs[s] = append(l.arcs[s], a)
	}
	l.arcs, l.accept = append(l.arcs, []arc{a}), append(l.accept, closed)
}

// shortest returns the least number of tokens of a text, −1 if there is no text.
func (l *Language) shortest() int {
	s := newSets(l)
	set, end := s.numberOf(0), s.numberOf(l.accept...)
	for n := range l.arcs {
		if s.meet(set, end) != 0 {
			return n
		}
		set = s.move(move{set: set, class: anyClass})
	}
	return -1
}
