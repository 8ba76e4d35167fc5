package tokenize

import "container/heap"

// scanLimit is the longest pre-token, in bytes, whose merges are found by repeated search through
// all pairs. Longer ones use a heap: at about 48 the two cost the same.
const scanLimit = 48

// maxWord is the maximum length of a pre-token in bytes: merging takes about 50 bytes of memory and
// half a microsecond for each. Real text has no megabyte without a place where it is cut.
const maxWord = 1 << 20

// mergeShort merges in place by repeated search: O(n²) steps for n symbols.
func (m bpe) mergeShort(syms []int32) []int32 {
	// pairs[i] is the merge of symbols i and i+1; its id is −1 if there is none.
	var room [scanLimit]merge
	pairs := room[:0]
	look := func(i int) merge {
		if p, ok := m.pair(int(syms[i]), int(syms[i+1])); ok {
			return p
		}
		return merge{id: -1}
	}
	for i := range len(syms) - 1 {
		pairs = append(pairs, look(i))
	}
	for {
		best := -1
		for i, p := range pairs {
			if p.id >= 0 && (best < 0 || p.rank < pairs[best].rank) {
				best = i
			}
		}
		if best < 0 {
			return syms
		}
		syms[best] = pairs[best].id
		syms = append(syms[:best+1], syms[best+2:]...)
		pairs = append(pairs[:best], pairs[best+1:]...)
		if best > 0 {
			pairs[best-1] = look(best - 1)
		}
		if best < len(pairs) {
			pairs[best] = look(best)
		}
	}
}

// candidate is a pair that can be merged: the symbol at position at and its right neighbour, as
// they were when the candidate was pushed.
type candidate struct {
	merge
	at          int32
	left, right int32
}

func (a candidate) before(b candidate) bool {
	return a.rank < b.rank || a.rank == b.rank && a.at < b.at
}

// mergeLong merges with a heap and a linked list: O(n log n) steps.
func (m bpe) mergeLong(syms []int32) []int32 {
	next := make([]int32, len(syms))
	prev := make([]int32, len(syms))
	for i := range syms {
		next[i], prev[i] = int32(i+1), int32(i-1)
	}
	next[len(syms)-1] = -1
	var first candidates
	push := func(i int32) {
		j := next[i]
		if j < 0 {
			return
		}
		if p, ok := m.pair(int(syms[i]), int(syms[j])); ok {
			heap.Push(&first, candidate{p, i, syms[i], syms[j]})
		}
	}
	for i := range syms {
		push(int32(i))
	}
	for len(first) > 0 {
		c := heap.Pop(&first).(candidate)
		i := c.at
		j := next[i]
		// A candidate is stale if one of its symbols has been merged since; a symbol merged into
		// its left neighbour has id −1.
		if j < 0 || syms[i] != c.left || syms[j] != c.right {
			continue
		}
		syms[i] = c.id
		syms[j] = -1
		next[i] = next[j]
		if next[i] >= 0 {
			prev[next[i]] = i
		}
		if prev[i] >= 0 {
			push(prev[i])
		}
		push(i)
	}
	out := syms[:0]
	for i := int32(0); i >= 0; i = next[i] {
		out = append(out, syms[i])
	}
	return out
}

// candidates is a heap with the first candidate on top.
type candidates []candidate

func (h candidates) Len() int           { return len(h) }
func (h candidates) Less(i, j int) bool { return h[i].before(h[j]) }
func (h candidates) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *candidates) Push(x any)        { *h = append(*h, x.(candidate)) }

func (h *candidates) Pop() any {
	last := len(*h) - 1
	out := (*h)[last]
	*h = (*h)[:last]
	return out
}
