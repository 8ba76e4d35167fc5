package tokenize

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
)

// maxFile is the maximum size of a tokenizer.json in bytes. The largest published ones have about
// 35 MB.
const maxFile = 256 << 20

// A Tokenizer turns text into token ids and back. It is safe for concurrent use, except for Pad.
type Tokenizer struct {
	name   string
	folder string
	digest string
	// tokens[id] is the token of an id; known[id] is whether the id has one.
	tokens []string
	known  []bool
	ids    map[string]int
	// special holds the ids of special tokens; unknown is WordPiece's token for words without
	// pieces, None for BPE.
	special map[int]bool
	unknown int
	// whole means that tokens are whole pre-tokens, whose texts join to that of a text.
	whole bool
	// Ids below padding that have no token have no text. See [Tokenizer.Pad].
	padding, mask int

	matched, plain pipeline
	// quoted matches the added tokens that are not special.
	quoted *preTokenizer
	decode func(tokens []string) string
}

// Open reads a tokenizer.json, or the one in a folder; links must not lead out of the folder. In a
// folder without one it reads vocab.json, merges.txt and tokenizer_config.json instead. If a file
// is missing the error satisfies errors.Is(err, fs.ErrNotExist).
func Open(ctx context.Context, path string) (*Tokenizer, error) {
	data, file, err := read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Errorf("tokenize", "%s: give a tokenizer.json or a folder that holds one: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fault.Errorf("tokenize", "%s: %w", file, err)
	}
	t, err := Parse(file, data)
	if err == nil {
		t.folder = filepath.Dir(file)
	}
	return t, err
}

// read reads a file, or the tokenizer.json in a folder, which must be a regular file in that
// folder. It also returns the file's name.
func read(ctx context.Context, path string) ([]byte, string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, path, plainfile.Cause(err)
	}
	if !info.IsDir() {
		data, err := plainfile.Named(ctx, path, maxFile)
		return data, path, err
	}
	dir, path := path, filepath.Join(path, "tokenizer.json")
	real, err := plainfile.Inside(dir, "tokenizer.json")
	if errors.Is(err, fs.ErrNotExist) {
		return slow(dir)
	}
	if err != nil {
		return nil, path, err
	}
	data, err := plainfile.Read(real, maxFile)
	return data, path, err
}

// Parse reads the content of a tokenizer.json. The name is used in error messages; data is not
// kept.
func Parse(name string, data []byte) (*Tokenizer, error) {
	if len(data) > maxFile {
		return nil, fault.Errorf("tokenize", "%s: more than %d MiB: is it a tokenizer.json?", name, maxFile>>20)
	}
	t, err := build(data)
	if err != nil {
		return nil, fault.Errorf("tokenize", "%s: %w", name, err)
	}
	t.name, t.digest = name, fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	return t, nil
}

// Encode returns the ids of a text. Added and special tokens spelled in the text become their ids,
// as the file specifies. The ids are those of the Rust library with add_special_tokens=false.
func (t *Tokenizer) Encode(text string) ([]int, error) {
	return t.matched.encode(text)
}

// EncodePlain returns the ids of a text that is only text: <|mask|> is read as its characters. It
// returns no id of an added or special token, except for the unknown token. It fails if an added
// token is the only token of a byte of the text.
func (t *Tokenizer) EncodePlain(text string) ([]int, error) {
	return t.plain.encode(text)
}

// Size returns one more than the largest id, including added tokens: the number of rows that a
// network needs. Ids below it may be unused.
func (t *Tokenizer) Size() int { return len(t.tokens) }

// Pad makes ids below n without a token decode to the empty text, except for the mask; otherwise
// they are errors. Many networks have more columns than their tokenizer has tokens, and
// occasionally draw them. Pad must not be called concurrently with other methods.
func (t *Tokenizer) Pad(n, mask int) { t.padding, t.mask = n, mask }

// ID returns the id of a token as the file spells it: byte-level tokens in the byte alphabet
// ("Ġthe"), added tokens unchanged.
func (t *Tokenizer) ID(token string) (int, bool) {
	id, ok := t.ids[token]
	return id, ok
}

// CutBlank returns a text without the blank at its end, and true, if the tokenizer begins words with
// a blank: a blank that is a token of its own is hardly ever followed by a word. Else, and for a
// single blank, it returns the text as it is.
func (t *Tokenizer) CutBlank(text string) (string, bool) {
	_, begins := t.ids["Ġa"]
	if before, cut := strings.CutSuffix(text, " "); cut && begins && before != "" {
		return before, true
	}
	return text, false
}

// Joint returns a context and the text after it with the blank at the end of the context moved to
// the text, as [Tokenizer.CutBlank] cuts it.
func (t *Tokenizer) Joint(context, text string) (before, after string) {
	if before, cut := t.CutBlank(context); cut && !strings.HasPrefix(text, " ") {
		return before, " " + text
	}
	return context, text
}

// Special reports whether the file marks the token as special. It returns false for ids that the
// tokenizer does not know.
func (t *Tokenizer) Special(id int) bool { return t.special[id] }

// End returns the number of ids before the first special token, which ends a text. MASK and
// WordPiece's unknown token do not end it.
func (t *Tokenizer) End(ids []int) int {
	for i, id := range ids {
		if t.special[id] && id != t.mask && id != t.unknown {
			return i
		}
	}
	return len(ids)
}

// Folder returns the folder of the file that the tokenizer was opened from; "" if it was parsed.
func (t *Tokenizer) Folder() string { return t.folder }

// Digest returns "sha256:" and the hexadecimal hash of the file.
func (t *Tokenizer) Digest() string { return t.digest }
