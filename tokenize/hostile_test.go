package tokenize

import (
	"encoding/json"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// FuzzParse checks that no file causes a panic, that errors are one line, and that accepted files
// also encode and decode.
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
			reftest.Must(tok.Decode(ids))(t, text)
		}
	}
}
