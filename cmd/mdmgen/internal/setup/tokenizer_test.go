package setup

import (
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/tokenize"
)

// TestFit checks that a network may have slightly more columns than the tokenizer has tokens,
// without texts. With many more or with fewer, they do not match.
func TestFit(t *testing.T) {
	open := func() *tokenize.Tokenizer {
		return reftest.Must(tokenize.Open(t.Context(), "../../../../testdata/tokenizers/letters.json"))(t)
	}
	n := open().Size()
	for _, c := range []struct {
		name          string
		columns, mask int
		fits          bool
		padded        []int // ids without text, from n on
	}{
		{"MDLM: the mask has the column behind all tokens", n + 1, n, true, nil},
		{"RADD: the mask has no column", n, n, true, nil},
		{"Dream: the mask is a token, and columns are padded", n + 3, n - 1, true, []int{0, 1, 2}},
		{"Open-dLLM: the mask is no token, and columns behind it are padded", n + 3, n + 1, true, []int{0, 2}},
		{"another network's", n + 20, n - 1, false, nil},
		{"a smaller network's", n - 1, n - 2, false, nil},
	} {
		words := open()
		if err := Fit(words, model.Facts{Columns: c.columns, MaskID: c.mask}); (err == nil) != c.fits {
			t.Errorf("%s: %v", c.name, err)
		}
		for id := n; c.fits && id < n+5; id++ {
			text, err := words.Decode([]int{id, 3})
			want := reftest.Must(words.Decode([]int{3}))(t)
			if padded := slices.Contains(c.padded, id-n); (err == nil) != padded || padded && text != want {
				t.Errorf("%s: id %d is %q, %v", c.name, id, text, err)
			}
		}
	}
}
