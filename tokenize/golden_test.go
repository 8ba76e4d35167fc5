package tokenize

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
)

var references = make(map[string]*Tokenizer)

// reference opens one of the real tokenizers among the large reference files, once for all tests.
func reference(t testing.TB, name string) *Tokenizer {
	t.Helper()
	path := reftest.Shared(t, "reference", "tokenizers", name+".tokenizer.json.gz")
	if references[name] == nil {
		references[name] = reftest.Must(Parse(name, reftest.Gunzip(t, path)))(t)
	}
	return references[name]
}

// TestRealTokenizers compares 3,059 strings for each of five published vocabularies with the ids of
// tokenizers 0.23.2, without exceptions.
func TestRealTokenizers(t *testing.T) {
	for _, name := range []string{"gpt2", "qwen2.5", "dream-like", "llada-like", "bert-base-uncased"} {
		t.Run(name, func(t *testing.T) {
			tok := reference(t, name)
			lines := bufio.NewScanner(bytes.NewReader(reftest.Gunzip(t, reftest.Shared(t, "reference", "tokenizers", name+".golden.jsonl.gz"))))
			lines.Buffer(nil, 16<<20)
			n, wrong := 0, 0
			for lines.Scan() {
				var want struct {
					Category, Text string
					IDs            []int
				}
				reftest.OK(t, json.Unmarshal(lines.Bytes(), &want))
				n++
				got, err := tok.Encode(want.Text)
				if err != nil || !slices.Equal(got, want.IDs) {
					wrong++
					if wrong <= 5 {
						t.Errorf("%s %q:\ngot  %v, %v\nwant %v", want.Category, want.Text, got, err, want.IDs)
					}
				}
			}
			reftest.OK(t, lines.Err())
			if n != 3059 || wrong != 0 {
				t.Errorf("%d of %d strings are wrong; want 0 of 3059", wrong, n)
			}
		})
	}
}
