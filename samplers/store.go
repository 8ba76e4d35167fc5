package samplers

import (
	"container/list"
	"encoding/binary"
)

// Store holds finished rows of kept keys and values, so that canvases of one network that begin alike
// compute them once: samples of a prompt, turns of a chat, requests of many clients. It is for networks
// whose finished rows do not depend on what follows them, which are block-causal or have causal rows;
// others share nothing. A store belongs to one network, and is used by one [Engine] or run of [Sample]
// at a time.
//
// It is a tree. A node holds the rows of some tokens behind those of the nodes above it. If there is no
// room for another, the leaf that was used least recently goes, unless a canvas in progress begins with it.
type Store struct {
	// most bounds the bytes of all nodes, and each is that of a node.
	most, each int64
	// length is the number of positions of a node. Rows are finished unit at a time.
	length, unit int
	root         node
	// order holds the nodes, the last used first, and each before those below it.
	order list.List
}

// node is a node of a store. users counts the canvases in progress whose last node it is.
type node struct {
	above *node
	below map[string]*node
	key   string
	rows  Kept
	users int
	at    *list.Element
}

// nodeBytes is about what a node takes beside its rows.
const nodeBytes = 512

// NewStore returns a store of at most that many bytes; nil, which shares nothing, for 0.
func NewStore(bytes int64) *Store {
	if bytes == 0 {
		return nil
	}
	return &Store{most: bytes}
}

// bytes returns the memory that the store takes.
func (s *Store) bytes() int64 { return int64(s.order.Len()) * s.each }

// find returns the node of tokens behind a node, nil if there is none.
func (s *Store) find(above *node, apart string, tokens []int64) *node {
	n := above.below[above.keyOf(apart, tokens)]
	s.use(n)
	return n
}

// use moves a node, if it is one, and those above it to the front.
func (s *Store) use(n *node) {
	for ; n != nil && n.above != nil; n = n.above {
		s.order.MoveToFront(n.at)
	}
}

// add returns the node of tokens behind a node, which is in use. If it is new, it gets rows. It is nil if
// there is no room beside what is in use.
func (s *Store) add(above *node, apart string, tokens []int64, rows func() Kept) *node {
	if n := s.find(above, apart, tokens); n != nil {
		return n
	}
	for e := s.order.Back(); e != nil && s.bytes()+s.each > s.most; {
		n := e.Value.(*node)
		if e = e.Prev(); n.users == 0 && len(n.below) == 0 {
			delete(n.above.below, n.key)
			s.order.Remove(n.at)
		}
	}
	if s.bytes()+s.each > s.most {
		return nil
	}
	n := &node{above: above, key: above.keyOf(apart, tokens), rows: rows()}
	if above.below == nil {
		above.below = make(map[string]*node)
	}
	above.below[n.key], n.at = n, s.order.PushFront(n)
	s.use(n)
	return n
}

// keyOf returns the key of tokens below a node. Canvases that are kept apart differ in their first.
func (n *node) keyOf(apart string, tokens []int64) string {
	var key []byte
	for _, id := range tokens {
		key = binary.AppendVarint(key, id)
	}
	if n.above == nil {
		key = append(key, apart...)
	}
	return string(key)
}
