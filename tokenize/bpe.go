package tokenize

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sugarme/tokenizer"
)

// bpe is byte-level byte pair encoding: of all neighbouring pairs that can be
// merged, that of the lowest rank is, and of equal ranks the leftmost.
//
// Its input are the raw bytes of a pre-token. The tables are shared between the
// two models of a Tokenizer and never written.
type bpe struct {
	*bpeTables
	// barred holds ids that the model must not give; nil bars none.
	barred map[int]bool
}

type bpeTables struct {
	vocab  map[string]int
	tokens []string
	bytes  [256]int
	merges map[uint64]merge
	// whole maps the bytes of a token to its id where ignore_merges is set: such
	// a pre-token is one token, merges or not. Else it is nil.
	whole map[string]int
}

// merge is what becomes of a pair of ids.
type merge struct{ rank, id int32 }

var _ tokenizer.Model = bpe{}

func pairKey(a, b int) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

// pair returns the merge of two ids. A negative id has none.
func (m bpe) pair(a, b int) (merge, bool) {
	p, ok := m.merges[pairKey(a, b)]
	if ok && m.barred != nil && m.barred[int(p.id)] {
		return merge{}, false
	}
	return p, ok
}

// symbols returns the parts of a pre-token, in the memory of room where it is enough.
func (m bpe) symbols(room []symbol, word string) ([]symbol, error) {
	if id, ok := m.whole[word]; ok && !m.barred[id] {
		return append(room, symbol{id: int32(id), end: int32(len(word))}), nil
	}
	if len(word) > maxWord {
		return nil, fmt.Errorf("tokenize: %d bytes without a place where text is cut: at most %d are read", len(word), maxWord)
	}
	syms := slices.Grow(room, len(word))[:len(word)]
	for i := range len(word) {
		id := m.bytes[word[i]]
		if m.barred[id] {
			return nil, fmt.Errorf("tokenize: byte %#02x has no token but the added token %q: it cannot be written as plain text", word[i], m.tokens[id])
		}
		syms[i] = symbol{id: int32(id), end: int32(i + 1)}
	}
	if len(syms) <= scanLimit {
		return m.mergeShort(syms), nil
	}
	return m.mergeLong(syms), nil
}

// appendIDs appends the ids of a pre-token.
func (m bpe) appendIDs(ids []int, word string) ([]int, error) {
	var room [scanLimit]symbol
	syms, err := m.symbols(room[:0], word)
	for _, s := range syms {
		ids = append(ids, int(s.id))
	}
	return ids, err
}

// Tokenize returns the tokens of a pre-token; offsets count its bytes.
func (m bpe) Tokenize(word string) ([]tokenizer.Token, error) {
	syms, err := m.symbols(nil, word)
	if err != nil {
		return nil, err
	}
	out := make([]tokenizer.Token, len(syms))
	start := 0
	for i, s := range syms {
		out[i] = tokenizer.Token{Id: int(s.id), Value: m.tokens[s.id], Offsets: []int{start, int(s.end)}}
		start = int(s.end)
	}
	return out, nil
}

// TokenToId returns the id of a token in the byte alphabet.
func (m bpe) TokenToId(token string) (int, bool) {
	id, ok := m.vocab[token]
	return id, ok
}

// IdToToken returns the token of an id in the byte alphabet.
func (m bpe) IdToToken(id int) (string, bool) {
	if id < 0 || id >= len(m.tokens) {
		return "", false
	}
	_, ok := m.vocab[m.tokens[id]]
	return m.tokens[id], ok
}

// GetVocab returns a copy of the vocabulary.
func (m bpe) GetVocab() map[string]int { return maps.Clone(m.vocab) }

// GetVocabSize counts the tokens of the model, added ones excluded.
func (m bpe) GetVocabSize() int { return len(m.vocab) }

// Save always fails: a tokenizer is read here, not written.
func (m bpe) Save(string, ...string) error {
	return fmt.Errorf("tokenize: a model is not written: keep its tokenizer.json: %w", errors.ErrUnsupported)
}
