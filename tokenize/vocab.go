package tokenize

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/model"
	"github.com/sugarme/tokenizer/model/wordpiece"
)

// maxID is the largest id allowed: tables are as long as the largest id. The largest published
// vocabularies have about a million tokens.
const maxID = 1<<21 - 1

// A vocabulary holds the model's own tokens.
type vocabulary struct {
	ids map[string]int
	// tokens[id] is the token of an id; used[id] is whether the id has one.
	tokens []string
	used   []bool
	size   int // largest id + 1
}

// readVocab reads model.vocab: every id once, none negative. Tokens are checked in order, so that a
// message names the first fault.
func readVocab(m section) vocabulary {
	raw := need[map[string]json.RawMessage](m, "vocab")
	v := vocabulary{ids: make(map[string]int, len(raw))}
	for _, token := range slices.Sorted(maps.Keys(raw)) {
		id, err := strconv.Atoi(string(raw[token]))
		if err != nil || id < 0 || id > maxID {
			m.fail("vocab", "token %.80q has id %.80q: must be a whole number in 0..%d", token, string(raw[token]), maxID)
			return vocabulary{}
		}
		if id >= v.size {
			v.size = id + 1
			v.tokens = append(v.tokens, make([]string, v.size-len(v.tokens))...)
			v.used = append(v.used, make([]bool, v.size-len(v.used))...)
		}
		if v.used[id] {
			m.fail("vocab", "tokens %.80q and %.80q share id %d: every token needs its own", v.tokens[id], token, id)
			return vocabulary{}
		}
		v.ids[token], v.tokens[id], v.used[id] = id, token, true
	}
	return v
}

// readBPE reads a byte-level BPE model: every merge joins two tokens into a third. Bytes may lack a
// token.
func readBPE(m section, v vocabulary) bpe {
	for _, key := range []string{"continuing_subword_prefix", "end_of_word_suffix"} {
		if m.Has(key) && m.text(key) != "" {
			m.fail(key, "%.80q: byte-level models have none", m.text(key))
		}
	}
	var dropout float64
	if m.May("dropout", &dropout); dropout != 0 {
		m.fail("dropout", "ids would be random: set it to null")
	}
	t := &bpeTables{tokens: v.tokens}
	pairs := readMerges(m)
	if m.failed() {
		return bpe{bpeTables: t}
	}
	for char, b := range alphabet {
		t.bytes[b] = -1
		if id, ok := v.ids[string(char)]; ok {
			t.bytes[b] = id
		}
	}
	if slices.Contains(t.bytes[:], -1) && m.Has("byte_fallback") && m.flag("byte_fallback") {
		m.fail("byte_fallback", "true is not supported where the vocabulary lacks bytes: give every byte a token")
		return bpe{bpeTables: t}
	}
	t.unknown, t.fuse = -1, m.Has("fuse_unk") && m.flag("fuse_unk")
	if m.Has("unk_token") {
		id, ok := v.ids[m.text("unk_token")]
		if !ok {
			m.fail("unk_token", "%.80q is not in the vocabulary", m.text("unk_token"))
			return bpe{bpeTables: t}
		}
		t.unknown = id
	}
	t.merges = make(map[uint64]merge, len(pairs))
	for rank, pair := range pairs {
		a, okA := v.ids[pair[0]]
		b, okB := v.ids[pair[1]]
		c, okC := v.ids[pair[0]+pair[1]]
		if !okA || !okB || !okC || pair[0] == "" || pair[1] == "" {
			m.fail(fmt.Sprintf("merges[%d]", rank), "%.80q and %.80q: both and what they make must be in the vocabulary", pair[0], pair[1])
			break
		}
		t.merges[pairKey(a, b)] = merge{int32(rank), int32(c)}
	}
	if m.Has("ignore_merges") && m.flag("ignore_merges") {
		t.whole = make(map[string]int, len(v.ids))
		for token, id := range v.ids {
			if raw, ok := rawBytes(token); ok {
				t.whole[string(raw)] = id
			}
		}
	}
	return bpe{bpeTables: t}
}

// readMerges reads model.merges, which are either all "a b" or all ["a","b"].
func readMerges(m section) [][2]string {
	var lines []string
	var pairs [][2]string
	if json.Unmarshal(m.Fields["merges"], &lines) == nil && lines != nil {
		for i, line := range lines {
			if strings.HasPrefix(line, "#version") {
				continue
			}
			a, b, ok := strings.Cut(line, " ")
			if !ok || strings.Contains(b, " ") {
				m.fail(fmt.Sprintf("merges[%d]", i), "%.80q: must be two tokens separated by one blank", line)
				return nil
			}
			pairs = append(pairs, [2]string{a, b})
		}
		return pairs
	}
	for i, two := range need[[][]string](m, "merges") {
		if len(two) != 2 {
			m.fail(fmt.Sprintf("merges[%d]", i), "%d tokens: must be 2", len(two))
			return nil
		}
		pairs = append(pairs, [2]string{two[0], two[1]})
	}
	return pairs
}

// maxWordLimit bounds max_input_chars_per_word, 100 in all published files: the
// model's cost for a word grows with the square of its length.
const maxWordLimit = 200

// readWordPiece reads a WordPiece model, and a second one that returns no barred id except the
// unknown token's. It also returns that id.
func readWordPiece(m section, v vocabulary, barred map[int]bool) (full, plain subwords, unknown int) {
	unk, prefix, limit := "[UNK]", "##", 100
	if m.Has("unk_token") {
		unk = m.text("unk_token")
	}
	if m.Has("continuing_subword_prefix") {
		prefix = m.text("continuing_subword_prefix")
	}
	if m.Has("max_input_chars_per_word") {
		limit = m.number("max_input_chars_per_word")
	}
	if limit < 0 || limit > maxWordLimit {
		m.fail("max_input_chars_per_word", "%d: 0 to %d are read", limit, maxWordLimit)
	}
	if _, ok := v.ids[unk]; !ok {
		m.fail("unk_token", "%.80q is not in the vocabulary: words without pieces become it", unk)
	}
	if m.failed() {
		return nil, nil, 0
	}
	text := make(model.Vocab, len(v.ids))
	for token, id := range v.ids {
		if !barred[id] || token == unk {
			text[token] = id
		}
	}
	all := model.Vocab(v.ids)
	with := func(vocab *model.Vocab) subwords {
		return wordPiece{wordpiece.NewWordPieceBuilder().Vocab(vocab).UnkToken(unk).
			ContinuingSubwordPrefix(prefix).MaxInputCharsPerWord(limit).Build()}
	}
	return with(&all), with(&text), v.ids[unk]
}

// wordPiece is the library's model.
type wordPiece struct{ tokenizer.Model }

func (m wordPiece) appendIDs(ids []int, word string) ([]int, error) {
	tokens, err := m.Tokenize(word)
	for _, t := range tokens {
		ids = append(ids, t.Id)
	}
	return ids, err
}
