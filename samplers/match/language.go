package match

import (
	"bytes"
	"slices"
	"sync"
)

// Vocabulary are the tokens that may be drawn. It may be shared by goroutines.
type Vocabulary struct {
	size, end int
	words     []word // in the order of their texts
	mu        sync.Mutex
	known     map[string]*Language
}

// word is a token with its text, of which the first bytes, same in number, are those of the word before.
type word struct {
	text     []byte
	id, same int
}

// mostKnown is how many languages a vocabulary keeps.
const mostKnown = 64

// NewVocabulary makes the vocabulary of tokens by their bytes, empty for those that are in no text. end
// is the token that fills what a text leaves, −1 for none.
func NewVocabulary(texts [][]byte, end int) *Vocabulary {
	v := &Vocabulary{size: len(texts), end: end, known: make(map[string]*Language)}
	for id, text := range texts {
		if len(text) > 0 && id != end {
			v.words = append(v.words, word{text: text, id: id})
		}
	}
	slices.SortStableFunc(v.words, func(a, b word) int { return bytes.Compare(a.text, b.text) })
	var before, all []byte // texts beside each other are found sooner
	for i := range v.words {
		w := &v.words[i]
		for w.same < min(len(w.text), len(before)) && w.text[w.same] == before[w.same] {
			w.same++
		}
		all = append(all, w.text...)
		w.text = all[len(all)-len(w.text):]
		before = w.text
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
}

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
	mostVisits = 1 << 30
	mostArcs   = 1 << 24
)

// Language is that of a regular expression, in the syntax of package regexp, which a whole text must match.
func (v *Vocabulary) Language(pattern string) (*Language, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if l := v.known[pattern]; l != nil {
		return l, nil
	}
	d, err := parse(pattern)
	if err != nil {
		return nil, err
	}
	l := &Language{pattern: pattern}
	if err := l.connect(v, d); err != nil {
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
	if len(v.known) == mostKnown {
		clear(v.known)
	}
	v.known[pattern] = l
	return l, nil
}

// connect finds the states of d between tokens, the classes and the arcs. Tokens are of one class where the sums of
// hashes of where they lead from each state agree.
func (l *Language) connect(v *Vocabulary, d *dfa) error {
	states, number, visits := []int32{d.start}, map[int32]int32{d.start: 0}, 0
	sums := make([]uint64, v.size)
	for i := 0; i < len(states); i++ {
		visits += v.walk(d, states[i], func(id int, to int32) {
			if _, ok := number[to]; !ok {
				number[to] = int32(len(states))
				states = append(states, to)
			}
			sums[id] += hash(int32(i), to)
		})
		if visits > mostVisits {
			return refuse(l.pattern, "with %d tokens its automaton takes too long: make repeats smaller", len(v.words))
		}
	}
	l.class, l.members = alike(sums)
	// One token of each class is enough to find its arcs.
	first := make([][]byte, v.size)
	for _, w := range v.words {
		if c := l.class[w.id]; c > 0 && int(l.members[c][0]) == w.id {
			first[w.id] = w.text
		}
	}
	firsts, total := NewVocabulary(first, v.end), 0
	for i, s := range states {
		var arcs []arc
		place := make(map[int32]int)
		firsts.walk(d, s, func(id int, end int32) {
			at, ok := place[end]
			if !ok {
				at = len(arcs)
				place[end], arcs = at, append(arcs, arc{to: number[end]})
			}
			arcs[at].classes = append(arcs[at].classes, l.class[id])
			total++
		})
		for _, a := range arcs {
			slices.Sort(a.classes)
		}
		if l.arcs = append(l.arcs, arcs); d.accept[s] {
			l.accept = append(l.accept, int32(i))
		}
		if total > mostArcs {
			return refuse(l.pattern, "with %d tokens its automaton has more than %d arcs: make repeats smaller", len(v.words), mostArcs)
		}
	}
	return nil
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

// walk visits the tokens that are possible from a state of d, with the state that they lead to, and counts the
// bytes on the way.
func (v *Vocabulary) walk(d *dfa, from int32, token func(id int, to int32)) (visits int) {
	at := []int32{from} // the states along the text before
	for _, w := range v.words {
		if w.same >= len(at) {
			continue // it begins with what is not possible
		}
		at = at[:w.same+1]
		for _, b := range w.text[w.same:] {
			visits++
			to := d.next[at[len(at)-1]][b]
			if to == 0 {
				break
			}
			at = append(at, to)
		}
		if len(at) > len(w.text) {
			token(w.id, at[len(w.text)])
		}
	}
	return visits
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
