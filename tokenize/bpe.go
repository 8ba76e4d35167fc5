package tokenize

import (
	"errors"
	"fmt"
	"maps"

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

// Tokenize returns the tokens of a pre-token; offsets count its bytes.
func (m bpe) Tokenize(word string) ([]tokenizer.Token, error) {
	if id, ok := m.whole[word]; ok && !m.barred[id] {
		return []tokenizer.Token{{Id: id, Value: m.tokens[id], Offsets: []int{0, len(word)}}}, nil
	}
	syms := make([]symbol, len(word))
	for i := range len(word) {
		id := m.bytes[word[i]]
		if m.barred[id] {
			return nil, fmt.Errorf("tokenize: byte %#02x has no token but the added token %q: it cannot be written as plain text", word[i], m.tokens[id])
		}
		syms[i] = symbol{id: id, end: i + 1}
	}
	if len(syms) <= scanLimit {
		syms = m.mergeShort(syms)
	} else {
		syms = m.mergeLong(syms)
	}
	out := make([]tokenizer.Token, len(syms))
	offsets := make([]int, 2*len(syms))
	start := 0
	for i, s := range syms {
		o := offsets[2*i : 2*i+2 : 2*i+2]
		o[0], o[1] = start, s.end
		start = s.end
		out[i] = tokenizer.Token{Id: s.id, Value: m.tokens[s.id], Offsets: o}
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
