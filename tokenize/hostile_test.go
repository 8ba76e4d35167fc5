package tokenize

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// FuzzParse checks that no file panics, that errors are one line, and that what
// is read also encodes and decodes.
func FuzzParse(f *testing.F) {
	for _, name := range small {
		f.Add(edited(f, name, nil))
		f.Add(edited(f, name, json.RawMessage("null"), "added_tokens"))
		f.Add(edited(f, name, map[string]any{"a": 0, "[UNK]": 1}, "model", "vocab"))
	}
	f.Add([]byte(`{"model":{"type":"WordPiece","vocab":{"[UNK]":0,"a":3}},"pre_tokenizer":{"type":"BertPreTokenizer"},"decoder":{"type":"WordPiece","prefix":"","cleanup":false}}`))
	f.Add([]byte(`{"model":{"vocab":{},"merges":[]},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkParse(t, data)
	})
}

// checkParse checks a file of any content.
func checkParse(t *testing.T, data []byte) {
	t.Helper()
	tok, err := Parse("x.json", data)
	if err != nil {
		if strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 2000 {
			t.Errorf("error of %d bytes or several lines: %q", len(err.Error()), err)
		}
		return
	}
	for _, text := range []string{"", "a <r> [MASK]  dogs\n", "\xff東\u0301 <|endoftext|>"} {
		for _, encode := range []func(string) ([]int, error){tok.Encode, tok.EncodePlain} {
			ids, err := encode(text)
			if err != nil {
				continue // a byte may have only an added token
			}
			if _, err := tok.Decode(ids); err != nil {
				t.Errorf("%q gives ids that are not the tokenizer's own: %v", text, err)
			}
		}
	}
}

// TestHostileFields puts odd values into random places of good files.
func TestHostileFields(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	values := strings.Fields(`null true "" "a" "Ġ" "Sequence" "ByteLevel" "\n\r" 0 -1 3.5 1e300 2097152 [] [null] ["a","b"] {} {"type":"NFC"} {"a":0}`)
	odd := func() (v any) {
		if err := json.Unmarshal([]byte(values[rng.IntN(len(values))]), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	// mutate replaces one value somewhere below v; big lists and objects are as
	// likely to be entered as small ones.
	var mutate func(v any) any
	mutate = func(v any) any {
		if rng.IntN(6) == 0 {
			return odd()
		}
		switch v := v.(type) {
		case map[string]any:
			if keys := slices.Sorted(maps.Keys(v)); len(keys) > 0 {
				k := keys[rng.IntN(len(keys))]
				if rng.IntN(8) == 0 {
					delete(v, k)
				} else {
					v[k] = mutate(v[k])
				}
				return v
			}
		case []any:
			if len(v) > 0 {
				i := rng.IntN(len(v))
				v[i] = mutate(v[i])
				return v
			}
		}
		return odd()
	}
	for _, name := range small {
		good := edited(t, name, nil)
		for range 150 {
			var root any
			if err := json.Unmarshal(good, &root); err != nil {
				t.Fatal(err)
			}
			for range 1 + rng.IntN(3) {
				root = mutate(root)
			}
			data, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			checkParse(t, data)
		}
	}
}
