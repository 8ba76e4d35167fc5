package tokenize

import (
	"os"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
)

// TestEncodeParts checks that one part is read as by Encode or EncodePlain; that a text has the
// same ids wherever it is divided; and that plain text produces no added token, whatever is next to
// it.
func TestEncodeParts(t *testing.T) {
	for _, name := range []string{"qwen", "bailing", "llama3"} {
		path := reftest.Data(t, "tokenizers", name+".tokenizer.json")
		data := reftest.Must(os.ReadFile(path))(t)
		words := reftest.Must(Parse(name, data))(t)
		encode := func(parts ...Part) []int {
			return reftest.Must(words.EncodeParts(parts))(t, name, parts)
		}
		for _, text := range []string{"", "Once upon\n\n a time", "a<|endoftext|>\nb", "<|endoftext|><|endoftext|> x", "the end<|end"} {
			special, err := words.Encode(text)
			plain, perr := words.EncodePlain(text)
			if err != nil || perr != nil {
				t.Fatal(err, perr)
			}
			if got := encode(Part{Text: text}); !slices.Equal(got, special) {
				t.Errorf("%s: %q: %v, want %v", name, text, got, special)
			}
			for i := range len(text) + 1 {
				a, b := text[:i], text[i:]
				if got := encode(Part{a, true}, Part{b, true}); !slices.Equal(got, plain) {
					t.Errorf("%s: %q and %q, plain: %v, want %v", name, a, b, got, plain)
				}
			}
			eot, ok := words.ID("<|endoftext|>")
			if !ok {
				t.Fatal("no <|endoftext|>")
			}
			want := slices.Concat([]int{eot}, plain, []int{eot})
			if got := encode(Part{Text: "<|endoftext|>"}, Part{text, true}, Part{Text: "<|endoftext|>"}); !slices.Equal(got, want) {
				t.Errorf("%s: %q between tokens: %v, want %v", name, text, got, want)
			}
		}
		if got := encode(Part{Text: "<|endof"}, Part{"text|>", true}); slices.ContainsFunc(got, words.Special) {
			t.Errorf("%s: halves of a token make it: %v", name, got)
		}
	}
}
