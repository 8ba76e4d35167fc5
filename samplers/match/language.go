package match

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Vocabulary are the tokens that may be drawn. It may be shared by goroutines.
type Vocabulary struct {
	texts [][]byte // by token
	end   int
	// making is held while a language is made, mu while known is read or changed.
	making *semaphore.Weighted
	mu     sync.Mutex
	known  map[string]*Language
}

// mostKnown is how many languages a vocabulary keeps.
const mostKnown = 64

// NewVocabulary makes the vocabulary of tokens by their bytes, empty for those that are in no text. end
// is the token that fills what a text leaves, −1 for none.
func NewVocabulary(texts [][]byte, end int) *Vocabulary {
	v := &Vocabulary{texts: slices.Clone(texts), end: end, making: semaphore.NewWeighted(1), known: make(map[string]*Language)}
	if end >= 0 {
		v.texts[end] = nil
	}
	return v
}

// Language are the sequences of tokens whose text is in a language, with the vocabulary's end behind
// it. Tokens that lead from each state to the same one are a class. It may be shared by goroutines.
type Language struct {
	pattern string
	// class is that of each token, 0 of one that is in no text; members are the tokens of each, ascending.
	class   []int32
	members [][]int32
	// arcs lead from state to state, and back the same way against them; state 0 is the first.
	arcs   [][]arc
	back   [][]arc
	accept []int32
	least  int // tokens of a text
	end    int
}

// End is the token that fills what a text leaves, −1 for none.
func (l *Language) End() int { return l.end }

// arc leads to a state, or to a set of states, by the tokens of some classes, ascending.
type arc struct {
	to      int32
	classes []int32
}

// has reports whether a token of a class leads there.
func (a arc) has(class int32) bool {
	if class == anyClass {
		return true
	}
	_, ok := slices.BinarySearch(a.classes, class)
	return ok
}

// The bounds of what a language may take: bytes of tokens that are visited, a few seconds' worth, and
// classes in arcs.
const (
	mostVisits = 1 << 32
	mostArcs   = 1 << 24
)

// Language is that of a regular expression, in the syntax of package regexp, which a whole text must match. It may
// take seconds, until the context ends.
func (v *Vocabulary) Language(ctx context.Context, pattern string) (*Language, error) {
	if l := v.made(pattern); l != nil {
		return l, nil
	}
	if err := v.making.Acquire(ctx, 1); err != nil { // One at a time: each may take much memory.
		return nil, err
	}
	defer v.making.Release(1)
	if l := v.made(pattern); l != nil {
		return l, nil
	}
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
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.known) == mostKnown {
		clear(v.known)
	}
	v.known[pattern] = l
	return l, nil
}

// made is the language of a pattern that was made before, nil for another.
func (v *Vocabulary) made(pattern string) *Language {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known[pattern]
}

// connect finds the states of d between tokens, the classes and the arcs. Tokens are of one class where the sums of
// hashes of where they lead from each state agree.
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
		if visits > mostVisits {
			return refuse(l.pattern, "with %d tokens its automaton takes too long: make repeats smaller", len(v.texts))
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
		if total > mostArcs {
			return refuse(l.pattern, "with %d tokens its automaton has more than %d arcs: make repeats smaller", len(v.texts), mostArcs)
		}
	}
	return nil
}

// after is the state behind a text, and how many of its bytes were looked at.
func (d *dfa) after(state int32, text []byte) (to int32, visits int) {
	for i, b := range text {
		if state = d.next[state][b]; state == 0 {
			return 0, i + 1
		}
	}
	return state, len(text)
}

// alike puts what has one sum of hashes in one group, in the order of their firsts, and in group 0, which
// has no members, what has none.
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

// close has the end follow a text, again and again.
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

// shortest is the least number of tokens of a text, −1 where there is none.
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
