package match

import (
	"fmt"
	"regexp/syntax"
	"unicode/utf8"
)

// byteForms are the UTF-8 forms of sets of characters, as trees of ranges of bytes. Sets that are the
// same have one tree.
type byteForms struct {
	nodes [][]byteEdge
	known map[string]int32
}

// byteEdge leads from a node to another, or to the end of the character, −1.
type byteEdge struct {
	lo, hi byte
	node   int32
}

// of is the first node of the characters of an instruction.
func (f *byteForms) of(in *syntax.Inst) int32 {
	runes := runesOf(in)
	root, ok := f.known[string(runes)]
	if !ok {
		root = int32(len(f.nodes))
		f.nodes = append(f.nodes, nil)
		for i := 0; i < len(runes); i += 2 {
			f.add(root, runes[i], runes[i+1])
		}
		root = f.share(root)
		f.known[string(runes)] = root
	}
	return root
}

// share is a node like one behind which all nodes are shared: what continues in one way has one node.
func (f *byteForms) share(node int32) int32 {
	if node < 0 {
		return node
	}
	for i := range f.nodes[node] {
		f.nodes[node][i].node = f.share(f.nodes[node][i].node)
	}
	key := fmt.Sprint(f.nodes[node])
	if same, ok := f.known[key]; ok {
		return same
	}
	f.known[key] = node
	return node
}

// add adds the characters lo..hi, cut where their forms have other lengths or are no ranges of
// bytes. Surrogates have no form.
func (f *byteForms) add(root int32, lo, hi rune) {
	if lo > hi {
		return
	}
	for _, last := range []rune{0x7F, 0x7FF, 0xD7FF, 0xDFFF, 0xFFFF} {
		if lo <= last && hi > last {
			f.add(root, lo, last)
			f.add(root, last+1, hi)
			return
		}
	}
	if lo >= 0xD800 && hi <= 0xDFFF {
		return
	}
	for bits := rune(6); bits < 24 && hi > 0x7F; bits += 6 {
		low := rune(1)<<bits - 1
		switch {
		case lo&^low == hi&^low:
			bits = 24 // they differ in these bits alone
		case lo&low != 0:
			f.add(root, lo, lo|low)
			f.add(root, lo|low+1, hi)
			return
		case hi&low != low:
			f.add(root, lo, hi&^low-1)
			f.add(root, hi&^low, hi)
			return
		}
	}
	first, last := utf8.AppendRune(nil, lo), utf8.AppendRune(nil, hi)
	for i := range first {
		root = f.edge(root, first[i], last[i], i == len(first)-1)
	}
}

// edge is the node behind a range of bytes, which is there already or is added.
func (f *byteForms) edge(from int32, lo, hi byte, last bool) int32 {
	for _, e := range f.nodes[from] {
		if e.lo == lo && e.hi == hi && (e.node < 0) == last {
			return e.node
		}
	}
	to := int32(-1)
	if !last {
		to = int32(len(f.nodes))
		f.nodes = append(f.nodes, nil)
	}
	f.nodes[from] = append(f.nodes[from], byteEdge{lo, hi, to})
	return to
}
