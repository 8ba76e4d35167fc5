package tokenize

import (
	"slices"

	"mdmgen/internal/fault"
)

// bpe is byte-level byte pair encoding: it merges the neighbouring pair of the lowest rank, of
// equal ranks the leftmost, until no pair has a merge.
//
// Its input is the raw bytes of a pre-token. The tables are shared between the two models of a
// Tokenizer and never written.
type bpe struct {
	*bpeTables
	// barred holds ids that the model must not return; it may be nil.
	barred map[int]bool
}

type bpeTables struct {
	tokens []string
	bytes  [256]int // -1 if a byte has no token
	// unknown is the token for bytes without one, or for a run of them if fuse is set; -1 if there
	// is none.
	unknown int
	fuse    bool
	merges  map[uint64]merge
	// whole, if ignore_merges is set, maps the bytes of a token to its id: such a pre-token becomes
	// one token, whatever the merges. Otherwise it is nil.
	whole map[string]int
}

// merge is the result of merging a pair of ids.
type merge struct{ rank, id int32 }

func pairKey(a, b int) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

// pair returns the merge of two ids. A negative id has none.
func (m bpe) pair(a, b int) (merge, bool) {
	p, ok := m.merges[pairKey(a, b)]
	if ok && m.barred != nil && m.barred[int(p.id)] {
		return merge{}, false
	}
	return p, ok
}

// symbols returns the ids of a pre-token, in the memory of room if it is large enough.
func (m bpe) symbols(room []int32, word string) ([]int32, error) {
	if id, ok := m.whole[word]; ok && !m.barred[id] {
		return append(room, int32(id)), nil
	}
	if len(word) > maxWord {
		return nil, fault.Errorf("tokenize", "%d bytes without a place to cut the text: at most %d are supported", len(word), maxWord)
	}
	syms := slices.Grow(room, len(word))
	lost := false // the byte before has no token
	for i := range len(word) {
		id := m.bytes[word[i]]
		if id < 0 {
			if m.unknown < 0 {
				return nil, fault.Errorf("tokenize", "byte %#02x of %.80q has no token: this vocabulary cannot write it", word[i], word)
			}
			if !lost || !m.fuse {
				syms = append(syms, int32(m.unknown))
			}
			lost = true
			continue
		}
		lost = false
		if m.barred[id] {
			return nil, fault.Errorf("tokenize", "byte %#02x has no token but the added token %q: it cannot be written as plain text", word[i], m.tokens[id])
		}
		syms = append(syms, int32(id))
	}
	if len(syms) <= scanLimit {
		return m.mergeShort(syms), nil
	}
	return m.mergeLong(syms), nil
}

// appendIDs appends the ids of a pre-token.
func (m bpe) appendIDs(ids []int, word string) ([]int, error) {
	var room [scanLimit]int32
	syms, err := m.symbols(room[:0], word)
	for _, s := range syms {
		ids = append(ids, int(s))
	}
	return ids, err
}
