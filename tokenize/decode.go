package tokenize

import (
	"fmt"
	"strings"

	"mdmgen/internal/fault"

	"github.com/sugarme/tokenizer/pretokenizer"
)

// Decode returns the text of ids, with special tokens as their content. It returns the same as the
// Rust library's decode with skip_special_tokens=false: bytes that are not UTF-8 become U+FFFD, one
// for each maximal invalid part; WordPiece words are joined by blanks; an added token that is
// matched in normalized text is returned normalized, and one that is spelled in the byte alphabet
// (<é>) as those bytes.
//
// An id that the tokenizer does not know is an error that names it, except for those of
// [Tokenizer.Pad]. (The Rust library drops such ids.)
func (t *Tokenizer) Decode(ids []int) (string, error) {
	tokens, err := t.spelled(ids, false)
	return t.decode(tokens), err
}

// DecodeText is like [Tokenizer.Decode] without special tokens. (The Rust library keeps those whose
// normalized text differs.)
func (t *Tokenizer) DecodeText(ids []int) (string, error) {
	tokens, err := t.spelled(ids, true)
	return t.decode(tokens), err
}

// spelled returns the tokens of ids, without special ones if skip is set.
func (t *Tokenizer) spelled(ids []int, skip bool) ([]string, error) {
	tokens := make([]string, 0, len(ids))
	for i, id := range ids {
		switch known := id >= 0 && id < len(t.tokens) && t.known[id]; {
		case !known && 0 <= id && id < t.padding && id != t.mask, known && skip && t.special[id]:
			continue
		case !known:
			return nil, fault.Errorf("tokenize", "id %d at position %d: no token of %s has it: ids run from 0 to %d", id, i, t.name, len(t.tokens)-1)
		}
		tokens = append(tokens, t.tokens[id])
	}
	return tokens, nil
}

// decodeBytes returns the text of byte-level tokens. A token with any character outside the byte
// alphabet is text, not bytes.
func decodeBytes(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteString(bytesOf(token))
	}
	return lossyUTF8(b.String())
}

// bytesOf returns the bytes of a byte-level token, which may be a part of a character.
func bytesOf(token string) string {
	if raw, ok := rawBytes(token); ok {
		return string(raw)
	}
	return token
}

// alphabet maps the characters of byte-level tokens to their bytes.
var alphabet = func() map[rune]byte {
	m := make(map[rune]byte, 256)
	for b, s := range pretokenizer.BytesChar {
		for _, r := range s {
			m[r] = b
		}
	}
	return m
}()

// rawBytes returns the bytes of a byte-level token; ok is false if a character is not in the
// alphabet.
func rawBytes(token string) (raw []byte, ok bool) {
	raw = make([]byte, 0, len(token))
	for _, r := range token {
		b, ok := alphabet[r]
		if !ok {
			return nil, false
		}
		raw = append(raw, b)
	}
	return raw, true
}

// Piece returns a function from a token to its text in the middle of a text, for one goroutine; nil
// for a nil tokenizer. Some decoders drop the blank at the start of a text, so the text of a token is
// what it adds when decoded twice.
func (t *Tokenizer) Piece() func(id int) string {
	if t == nil {
		return nil
	}
	known := make(map[int]string)
	return func(id int) string {
		text, ok := known[id]
		if !ok {
			once, err := t.Decode([]int{id})
			twice, terr := t.Decode([]int{id, id})
			if text, ok = strings.CutPrefix(twice, once); !ok || err != nil || terr != nil {
				text = fmt.Sprintf("⟨%d⟩", id)
			}
			known[id] = text
		}
		return text
	}
}
