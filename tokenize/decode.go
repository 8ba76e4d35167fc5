package tokenize

import (
	"fmt"
	"strings"

	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/pretokenizer"
)

// Decode returns the text of ids, special tokens as their content. It is what
// the Rust library's decode gives with skip_special_tokens=false: bytes that are
// no UTF-8 become U+FFFD, one for each maximal invalid part; WordPiece words are
// joined by blanks; an added token that is matched in normalized text comes back
// normalized, and one that is spelled in the byte alphabet (<é>) as those bytes.
//
// An id that the tokenizer does not know is an error that names it. (The Rust
// library drops such ids.)
func (t *Tokenizer) Decode(ids []int) (string, error) {
	return t.text(ids, false)
}

// DecodeText is like [Tokenizer.Decode] and leaves special tokens out.
func (t *Tokenizer) DecodeText(ids []int) (string, error) {
	return t.text(ids, true)
}

func (t *Tokenizer) text(ids []int, skip bool) (string, error) {
	tokens := make([]string, 0, len(ids))
	for i, id := range ids {
		if id < 0 || id >= len(t.tokens) || !t.known[id] {
			return "", fmt.Errorf("tokenize: id %d at position %d: no token of %s has it: ids run from 0 to %d", id, i, t.name, len(t.tokens)-1)
		}
		if skip && t.special[id] {
			continue
		}
		tokens = append(tokens, t.tokens[id])
	}
	return t.decoder.Decode(tokens), nil
}

// byteDecoder is the library's Decoder for byte-level tokens. A token with any
// character outside the byte alphabet is text, not bytes.
type byteDecoder struct{}

var _ tokenizer.Decoder = byteDecoder{}

// Decode returns the text of tokens.
func (byteDecoder) Decode(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		if raw, ok := rawBytes(t); ok {
			b.Write(raw)
		} else {
			b.WriteString(t)
		}
	}
	return lossyUTF8(b.String())
}

// DecodeChain returns the text of all tokens as one part: a character may be
// spread over several tokens.
func (d byteDecoder) DecodeChain(tokens []string) []string {
	return []string{d.Decode(tokens)}
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

// rawBytes returns the bytes that a byte-level token stands for; ok is false
// where a character is not in the alphabet.
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
