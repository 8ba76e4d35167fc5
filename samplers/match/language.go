package match

import (
	"bytes"
	"slices"
	"sync"
)

// Vocabulary are the tokens that may be drawn. It may be shared by goroutines.
type Vocabulary struct {
	texts [][]byte
	end   int
	// nodes are those of the trie of the texts, each before those below it, and sorted has the tokens in
	// their order.
	nodes  []trieNode
	sorted []int32
	mu     sync.Mutex
	known  map[string]*Language
}

// trieNode is a byte of a text, depth bytes being before it. The node next, and none before it, is not
// below this one. The tokens sorted[from:to] end here.
type trieNode struct {
	b                     byte
	depth, next, from, to int32
}

// mostKnown is how many languages a vocabulary keeps.
const mostKnown = 64

// NewVocabulary makes the vocabulary of tokens by their bytes, empty for those that are in no text. end
// is the token that fills what a text leaves, −1 for none.
func NewVocabulary(texts [][]byte, end int) *Vocabulary {
	v := &Vocabulary{texts: texts, end: end, known: make(map[string]*Language)}
	for id, text := range texts {
		if len(text) > 0 && id != end {
			v.sorted = append(v.sorted, int32(id))
		}
	}
	slices.SortStableFunc(v.sorted, func(a, b int32) int { return bytes.Compare(texts[a], texts[b]) })
	var open []int32 // the nodes of the text before
	var before []byte
	leave := func(depth int) {
		for _, n := range open[depth:] {
			v.nodes[n].next = int32(len(v.nodes))
		}
		open = open[:depth]
	}
	for i, id := range v.sorted {
		text, same := texts[id], 0
		for same < min(len(text), len(before)) && text[same] == before[same] {
			same++
		}
		leave(same)
		for depth := same; depth < len(text); depth++ {
			open = append(open, int32(len(v.nodes)))
			v.nodes = append(v.nodes, trieNode{b: text[depth], depth: int32(depth), from: int32(i), to: int32(i)})
		}
		v.nodes[open[len(open)-1]].to = int32(i) + 1
		before = text
	}
	leave(0)
	return v
}

// Language are the sequences of tokens whose text is in a language, with the vocabulary's end behind
// it. Tokens that lead from each state to the same one are a class. It may be shared by goroutines.
type Language struct {
	pattern string
	// class is that of each token, 0 of one that is in no text; members are the tokens of each, ascending.
	class   []int32
	members [][]int32
	// arcs lead from state to state; state 0 is the first.
	arcs   [][]arc
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

// The bounds of what a language may take: nodes of the trie that are visited, a few seconds' worth, and
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
	l := &Language{pattern: pattern, class: make([]int32, len(v.texts)), members: make([][]int32, 1)}
	if err := l.connect(v, d); err != nil {
		return nil, err
	}
	if v.end >= 0 {
		l.close(v.end)
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
	sums := make([]uint64, len(v.texts))
	for i := 0; i < len(states); i++ {
		visits += v.walk(d, states[i], func(tokens []int32, to int32) {
			if _, ok := number[to]; !ok {
				number[to] = int32(len(states))
				states = append(states, to)
			}
			for _, t := range tokens {
				sums[t] += hash(int32(i), to)
			}
		})
		if visits > mostVisits {
			return refuse(l.pattern, "with %d tokens its automaton takes too long: make repeats smaller", len(v.sorted))
		}
	}
	classes, first := map[uint64]int32{0: 0}, make([][]byte, len(v.texts))
	for t, sum := range sums {
		c, ok := classes[sum]
		if !ok {
			c = int32(len(l.members))
			classes[sum], l.members, first[t] = c, append(l.members, nil), v.texts[t]
		}
		if l.class[t] = c; c > 0 {
			l.members[c] = append(l.members[c], int32(t))
		}
	}
	// One token of each class is enough to find its arcs.
	firsts, total := NewVocabulary(first, v.end), 0
	for i, s := range states {
		var arcs []arc
		place := make(map[int32]int)
		firsts.walk(d, s, func(tokens []int32, end int32) {
			at, ok := place[end]
			if !ok {
				at = len(arcs)
				place[end], arcs = at, append(arcs, arc{to: number[end]})
			}
			for _, t := range tokens {
				arcs[at].classes = append(arcs[at].classes, l.class[t])
				total++
			}
		})
		for _, a := range arcs {
			slices.Sort(a.classes)
		}
		if l.arcs = append(l.arcs, arcs); d.accept[s] {
			l.accept = append(l.accept, int32(i))
		}
		if total > mostArcs {
			return refuse(l.pattern, "with %d tokens its automaton has more than %d arcs: make repeats smaller", len(v.sorted), mostArcs)
		}
	}
	return nil
}

// walk visits the tokens that are possible from a state of d, with the state that they lead to, and counts the
// nodes on the way.
func (v *Vocabulary) walk(d *dfa, from int32, token func(tokens []int32, to int32)) (visits int) {
	at := []int32{from}
	for i := int32(0); int(i) < len(v.nodes); visits++ {
		n := &v.nodes[i]
		to := d.next[at[n.depth]][n.b]
		if to == 0 {
			i = n.next
			continue
		}
		at = append(at[:n.depth+1], to)
		if n.from < n.to {
			token(v.sorted[n.from:n.to], to)
		}
		i++
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
	tokens := slices.Repeat([]int{-1}, len(l.arcs)) // before each state
	tokens[0] = 0
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if slices.Contains(l.accept, s) {
			return tokens[s]
		}
		for _, a := range l.arcs[s] {
			if tokens[a.to] < 0 {
				tokens[a.to] = tokens[s] + 1
				queue = append(queue, a.to)
			}
		}
	}
	return -1
}
