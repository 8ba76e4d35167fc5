package tokenize

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
)

// slowFiles hold the vocabulary and the merges of a tokenizer without tokenizer.json, a Python
// class that tokenizer_config.json names. Dream publishes only such a tokenizer.
var slowFiles = []string{"vocab.json", "merges.txt"}

// slowConfig holds the fields read from tokenizer_config.json.
type slowConfig struct {
	Class          string                 `json:"tokenizer_class"`
	AddPrefixSpace bool                   `json:"add_prefix_space"`
	Added          map[int]map[string]any `json:"added_tokens_decoder"`
}

// slow makes a tokenizer.json from the files of a folder that has none. It returns the path of the
// file with the vocabulary, or of the file that caused the error. The error satisfies
// errors.Is(err, fs.ErrNotExist) if a file is missing.
func slow(dir string) (data []byte, path string, err error) {
	var vocab, numbers map[string]int
	var c slowConfig
	folder := plainfile.Folder(dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	merges, err := plainfile.ReadFS(folder, slowFiles[1], maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return words(dir)
	}
	if err != nil {
		return nil, at(slowFiles[1]), err
	}
	for _, f := range []struct {
		name string
		to   any
	}{{slowFiles[0], &vocab}, {"tokenizer_config.json", &c}, {"added_tokens.json", &numbers}} {
		err := plainjson.ReadFS(folder, f.name, maxFile, f.to)
		if errors.Is(err, fs.ErrNotExist) && f.name == "added_tokens.json" {
			continue // In newer folders tokenizer_config.json has its content.
		}
		if err != nil {
			return nil, at(f.name), err
		}
	}
	byteLevel := map[string]any{"type": "ByteLevel", "add_prefix_space": c.AddPrefixSpace, "trim_offsets": true, "use_regex": true}
	file := map[string]any{"version": "1.0", "normalizer": nil, "pre_tokenizer": byteLevel, "decoder": map[string]string{"type": "ByteLevel"}}
	switch strings.TrimSuffix(c.Class, "Fast") {
	case "GPT2Tokenizer":
	case "Qwen2Tokenizer", "DreamTokenizer":
		byteLevel["add_prefix_space"], byteLevel["use_regex"] = false, false
		file["normalizer"] = map[string]string{"type": "NFC"}
		split := map[string]any{"type": "Split", "pattern": map[string]string{"Regex": exprQwen}, "behavior": "Isolated", "invert": false}
		file["pre_tokenizer"] = map[string]any{"type": "Sequence", "pretokenizers": []any{split, byteLevel}}
	default:
		return nil, at("tokenizer_config.json"), fmt.Errorf("tokenizer_class %.80q: without a tokenizer.json GPT2Tokenizer, Qwen2Tokenizer and DreamTokenizer are read", c.Class)
	}
	if c.Added == nil {
		c.Added = make(map[int]map[string]any)
	}
	for _, content := range slices.Sorted(maps.Keys(numbers)) {
		if id := numbers[content]; c.Added[id] == nil {
			c.Added[id] = map[string]any{"content": content, "special": false}
		}
	}
	var added []map[string]any
	for _, id := range slices.Sorted(maps.Keys(c.Added)) {
		token := map[string]any{"single_word": false, "lstrip": false, "rstrip": false, "normalized": false}
		maps.Copy(token, c.Added[id])
		token["id"] = id
		added = append(added, token)
	}
	file["added_tokens"] = added
	pairs := []string{}
	for line := range strings.Lines(string(merges)) {
		if text := strings.TrimSpace(line); text != "" && !(len(pairs) == 0 && strings.HasPrefix(text, "#version:")) {
			pairs = append(pairs, text)
		}
	}
	file["model"] = map[string]any{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": "", "end_of_word_suffix": "",
		"fuse_unk": false, "byte_fallback": false, "vocab": vocab, "merges": pairs}
	data, err = json.Marshal(file)
	return data, at(slowFiles[0]), err
}
