package tokenize

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// small names the tokenizers in testdata/tokenizers; its README describes the purpose of each and
// which library made the vectors.
var small = []string{"gpt2", "prefix", "llama3", "qwen", "bailing", "cl100k", "wordpiece", "lacking", "fusing"}

func openSmall(t testing.TB, name string) *Tokenizer {
	t.Helper()
	return reftest.Must(Open(t.Context(), reftest.Data(t, "tokenizers", name+".tokenizer.json")))(t)
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	reftest.OK(t, json.Unmarshal(reftest.Must(os.ReadFile(path))(t), v))
}

// optional distinguishes an absent value from null.
type optional[T any] struct {
	set, null bool
	value     T
}

func (o *optional[T]) UnmarshalJSON(data []byte) error {
	o.set, o.null = true, string(data) == "null"
	return json.Unmarshal(data, &o.value)
}

type vectors struct {
	Schema, Library string
	Strings         []struct {
		Text, Base64 string
		IDs          []int
		Plain        optional[[]int]  `json:"ids_plain"`
		Decoded      optional[string] `json:"decoded"`
	}
	Long []struct {
		Part         string
		Times, Count int
		SHA256       string
	}
	IDs []struct {
		IDs            []int
		Decoded        string
		WithoutSpecial string `json:"without_special"`
	}
}

func TestVectors(t *testing.T) {
	t.Parallel()
	for _, name := range small {
		t.Run(name, func(t *testing.T) {
			tok := openSmall(t, name)
			var v vectors
			readJSON(t, reftest.Data(t, "tokenizers", name+".vectors.json"), &v)
			if len(v.Strings) < 100 || len(v.Long) == 0 || len(v.IDs) == 0 {
				t.Fatalf("the vectors hold %d strings, %d long ones, %d lists of ids", len(v.Strings), len(v.Long), len(v.IDs))
			}
			for _, s := range v.Strings {
				text := s.Text
				if s.Base64 != "" {
					text = string(reftest.Must(base64.StdEncoding.DecodeString(s.Base64))(t))
				}
				got, err := tok.Encode(text)
				if err != nil || !slices.Equal(got, s.IDs) {
					t.Errorf("Encode(%q) =\n%v, %v; want\n%v", text, got, err, s.IDs)
				}
				plain := s.IDs
				if s.Plain.set {
					plain = s.Plain.value
				}
				if !s.Plain.null {
					got, err := tok.EncodePlain(text)
					if err != nil || !slices.Equal(got, plain) {
						t.Errorf("EncodePlain(%q) =\n%v, %v; want\n%v", text, got, err, plain)
					}
				}
				decoded := lossyUTF8(text)
				if s.Decoded.set {
					decoded = s.Decoded.value
				}
				if got, err := tok.Decode(s.IDs); err != nil || got != decoded {
					t.Errorf("Decode of %q = %q, %v; want %q", text, got, err, decoded)
				}
			}
			for _, l := range v.Long {
				got, err := tok.Encode(strings.Repeat(l.Part, l.Times))
				if err != nil || len(got) != l.Count || idsDigest(got) != l.SHA256 {
					t.Errorf("%d times %q: %d ids, %v; want %d ids, or other ids", l.Times, l.Part, len(got), err, l.Count)
				}
			}
			for _, d := range v.IDs {
				if got, err := tok.Decode(d.IDs); err != nil || got != d.Decoded {
					t.Errorf("Decode(%v) = %q, %v; want %q", d.IDs, got, err, d.Decoded)
				}
				if got, err := tok.DecodeText(d.IDs); err != nil || got != d.WithoutSpecial {
					t.Errorf("DecodeText(%v) = %q, %v; want %q", d.IDs, got, err, d.WithoutSpecial)
				}
			}
		})
	}
}

func idsDigest(ids []int) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(id))
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// TestEmbeddedTokenizer compares the tokenizer of the embedded checkpoint with the ids supplied
// with it.
func TestEmbeddedTokenizer(t *testing.T) {
	tok := reftest.Must(Open(t.Context(), reftest.Builtin(t)))(t)
	var v struct {
		Schema  string
		Strings []struct {
			Text  string
			IDs   []int
			Plain []int `json:"ids_plain"`
		}
	}
	readJSON(t, reftest.Data(t, "tokens.json"), &v)
	if v.Schema != "mdm-tokens/1" || len(v.Strings) == 0 {
		t.Fatalf("schema %q with %d strings", v.Schema, len(v.Strings))
	}
	for _, s := range v.Strings {
		if got, err := tok.Encode(s.Text); err != nil || !slices.Equal(got, s.IDs) {
			t.Errorf("Encode(%q) = %v, %v; want %v", s.Text, got, err, s.IDs)
		}
		if got, err := tok.EncodePlain(s.Text); err != nil || !slices.Equal(got, s.Plain) {
			t.Errorf("EncodePlain(%q) = %v, %v; want %v", s.Text, got, err, s.Plain)
		}
		if got, err := tok.Decode(s.IDs); err != nil || got != s.Text {
			t.Errorf("Decode of %q = %q, %v", s.Text, got, err)
		}
	}
	end, ok := tok.ID("<|endoftext|>")
	if !ok || end != 2047 || !tok.Special(end) || tok.Special(64) || tok.Size() != 2048 {
		t.Errorf("<|endoftext|> is %d, %v, special %v; %d ids; want 2047, special, 2048", end, ok, tok.Special(end), tok.Size())
	}
	if n, none := tok.End([]int{64, end, 64}), tok.End([]int{64}); n != 1 || none != 1 {
		t.Errorf("texts end after %d and %d ids; want 1, 1", n, none)
	}
	pieces := openSmall(t, "wordpiece")
	ids := map[string]int{}
	for _, token := range []string{"[UNK]", "[MASK]", "[SEP]"} {
		ids[token], _ = pieces.ID(token)
	}
	pieces.Pad(pieces.Size(), ids["[MASK]"])
	if n := pieces.End([]int{ids["[UNK]"], ids["[MASK]"], ids["[SEP]"]}); n != 2 {
		t.Errorf("a text with an unknown word and a mask ends after %d ids; want 2", n)
	}
}
