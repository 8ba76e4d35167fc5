package tokenize

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// slowFolder writes the files of a tokenizer in Python that are equivalent to a tokenizer.json.
func slowFolder(t *testing.T, name, class string) string {
	var file struct {
		Added []map[string]any `json:"added_tokens"`
		Pre   map[string]any   `json:"pre_tokenizer"`
		Model struct {
			Vocab  map[string]int
			Merges []any
		}
	}
	readJSON(t, reftest.Data(t, "tokenizers", name+".tokenizer.json"), &file)
	decoder, numbers := map[int]any{}, map[string]int{}
	for i, a := range file.Added {
		id := int(a["id"].(float64))
		numbers[a["content"].(string)] = id
		if i > 0 || name == "gpt2" { // Older folders have plain tokens only in added_tokens.json.
			decoder[id] = a
		}
		delete(a, "id")
	}
	merges := []string{"#version: 0.2"}
	for _, m := range file.Model.Merges {
		if pair, ok := m.([]any); ok {
			m = pair[0].(string) + " " + pair[1].(string)
		}
		merges = append(merges, m.(string))
	}
	dir := t.TempDir()
	write := func(name string, v any) {
		data, ok := v.([]byte)
		if !ok {
			data = reftest.Must(json.Marshal(v))(t)
		}
		reftest.OK(t, os.WriteFile(filepath.Join(dir, name), data, 0o666))
	}
	write("vocab.json", file.Model.Vocab)
	write("merges.txt", []byte(strings.Join(merges, "\n")+"\n"))
	write("added_tokens.json", numbers)
	write("tokenizer_config.json", map[string]any{"tokenizer_class": class, "add_prefix_space": file.Pre["add_prefix_space"] == true, "added_tokens_decoder": decoder})
	return dir
}

// TestSlow checks that separate vocabulary, merges and added tokens give the ids of the equivalent
// tokenizer.json.
func TestSlow(t *testing.T) {
	for name, class := range map[string]string{"gpt2": "GPT2Tokenizer", "prefix": "GPT2TokenizerFast", "qwen": "DreamTokenizer"} {
		words := reftest.Must(Open(t.Context(), slowFolder(t, name, class)))(t)
		var v vectors
		readJSON(t, reftest.Data(t, "tokenizers", name+".vectors.json"), &v)
		want := openSmall(t, name)
		if len(v.Strings) < 50 || words.Size() != want.Size() {
			t.Fatalf("%s: %d strings, %d tokens of %d", name, len(v.Strings), words.Size(), want.Size())
		}
		for _, s := range v.Strings {
			if s.Base64 != "" {
				continue
			}
			if ids, err := words.Encode(s.Text); err != nil || !slices.Equal(ids, s.IDs) {
				t.Errorf("%s: %q: %v, %v, want %v", name, s.Text, ids, err, s.IDs)
			}
		}
	}
}

// TestSlowLacks checks that a folder without the files has no tokenizer, and that one of another
// class is rejected by its name.
func TestSlowLacks(t *testing.T) {
	_, err := Open(t.Context(), slowFolder(t, "qwen", "BloomTokenizer"))
	checkLine(t, "class", err, `tokenizer_config.json: tokenizer_class "BloomTokenizer": without a tokenizer.json`)
	dir := slowFolder(t, "qwen", "Qwen2Tokenizer")
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "added_tokens.json"), []byte("{"), 0o666))
	checkLine(t, "a damaged file", reftest.Err(Open(t.Context(), dir)), "added_tokens.json: ")
	for _, name := range []string{"vocab.json", "merges.txt"} {
		dir := slowFolder(t, "qwen", "Qwen2Tokenizer")
		reftest.OK(t, os.Remove(filepath.Join(dir, name)))
		if _, err := Open(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
