package tokenize

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/internal/wordlist"
)

// TestWords checks the ids of BERT's old vocabularies with those of their authors' tokenizers, and that
// letters and the parts of a SMILES become the text again.
func TestWords(t *testing.T) {
	t.Parallel()
	for folder, exact := range map[string]bool{"bert-letters/model": true, "bert-smiles": true, "bert-words": false} {
		dir := reftest.Data(t, "reference", "checkpoints", filepath.FromSlash(folder))
		tok := reftest.Must(Open(t.Context(), dir))(t)
		var told []struct {
			Text string
			IDs  []int
		}
		readJSON(t, filepath.Join(dir, "tokens.json"), &told)
		unknown, texts := 0, 0
		for _, c := range told {
			ids := reftest.Must(tok.EncodePlain(c.Text))(t)
			if !slices.Equal(ids, c.IDs) {
				t.Errorf("%s: %q is %v, want %v", folder, c.Text, ids, c.IDs)
			}
			checkStream(t, tok, c.Text)
			checkStream(t, tok, c.Text+" \n"+c.Text)
			back := reftest.Must(tok.Decode(ids))(t)
			if slices.Contains(ids, tok.unknown) {
				unknown++
			} else if texts++; exact && back != c.Text {
				t.Errorf("%s: %q is read back as %q", folder, c.Text, back)
			}
		}
		if unknown == 0 || texts == 0 {
			t.Errorf("%s: %d texts with unknown parts and %d without: want both", folder, unknown, texts)
		}
		mask, _ := tok.ID("[MASK]")
		if ids := reftest.Must(tok.Encode("[MASK]"))(t); !slices.Equal(ids, []int{mask}) {
			t.Errorf("%s: [MASK] is %v, want %d", folder, ids, mask)
		}
		if ids := reftest.Must(tok.EncodePlain("[MASK]"))(t); slices.Contains(ids, mask) {
			t.Errorf("%s: a text that spells [MASK] is %v", folder, ids)
		}
		texted, err := tok.Texts()
		if exact != (err == nil) {
			t.Errorf("%s: texts of tokens: %v", folder, err)
		}
		for id, text := range texted {
			if special := wordlist.Special(tok.tokens[id]) && !strings.HasPrefix(tok.tokens[id], "[unused"); special != (text == nil) {
				t.Errorf("%s: the text of %s is %q", folder, tok.tokens[id], text)
			}
		}
	}
}

// TestWordsOf checks which folders have a vocabulary, and that capitals are kept where tokens have them.
func TestWordsOf(t *testing.T) {
	t.Parallel()
	folder := func(files map[string]string) string {
		dir := filepath.Join(t.TempDir(), "model")
		reftest.OK(t, os.Mkdir(dir, 0o777))
		for name, text := range files {
			reftest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		}
		return dir
	}
	const words, sized, config = "[UNK]\r\nab\r\n##c\r\nAb", `{"vocab_size":4}`, "tokenizer_config.json"
	for _, c := range []struct {
		name  string
		files map[string]string
		ids   []int // of "abc Ab"
		want  string
	}{
		{"capitals", map[string]string{"vocab.txt": words}, []int{1, 2, 3}, ""},
		{"lower case", map[string]string{"vocab.txt": words, config: `{"do_lower_case":true}`}, []int{1, 2, 1}, ""},
		{"the folder above", map[string]string{"../vocab.txt": words, "config.json": sized}, []int{1, 2, 3}, ""},
		{"another model's above", map[string]string{"../vocab.txt": words, "config.json": `{"vocab_size":5}`}, nil, "give a tokenizer.json"},
		{"above without a config", map[string]string{"../vocab.txt": words}, nil, "give a tokenizer.json"},
		{"another class", map[string]string{"vocab.txt": words, config: `{"tokenizer_class":"BertJapaneseTokenizer"}`}, nil, "BertJapaneseTokenizer"},
		{"nothing", map[string]string{"vocab.txt": "\n"}, nil, "has no tokens"},
		{"no unknown token", map[string]string{"vocab.txt": "ab\n##c"}, nil, "[UNK]"},
	} {
		tok, err := Open(t.Context(), folder(c.files))
		if c.want != "" {
			reftest.Fails(t, err, c.want, c.name)
			continue
		}
		if reftest.OK(t, err, c.name); !slices.Equal(reftest.Must(tok.EncodePlain("abc Ab"))(t), c.ids) {
			t.Errorf("%s: ids are %v", c.name, reftest.Must(tok.EncodePlain("abc Ab"))(t))
		}
	}
}
