package tokenize

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// edited returns a small tokenizer.json with the value at a path replaced; a nil
// value removes it. Numbers index lists.
func edited(t testing.TB, name string, value any, path ...any) []byte {
	t.Helper()
	var root any
	readJSON(t, reftest.Data(t, "tokenizers", name+".tokenizer.json"), &root)
	at := root
	for i, key := range path {
		last := i == len(path)-1
		switch at := at.(type) {
		case map[string]any:
			k := key.(string)
			if last && value == nil {
				delete(at, k)
			} else if last {
				at[k] = value
			}
		case []any:
			if last {
				at[key.(int)] = value
			}
		default:
			t.Fatalf("%v leads nowhere", path)
		}
		if !last {
			if m, ok := at.(map[string]any); ok {
				at = m[key.(string)]
			} else {
				at = at.([]any)[key.(int)]
			}
		}
	}
	return reftest.Must(json.Marshal(root))(t)
}

// null is a JSON null, which [edited] does not treat as a removal.
var null = json.RawMessage("null")

func at(path ...any) []any { return path }

// checkLine checks that an error is one line that names the file and contains want.
func checkLine(t *testing.T, name string, err error, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: no error; want one with %q", name, want)
	case !strings.HasPrefix(err.Error(), "tokenize: "), strings.ContainsAny(err.Error(), "\n\r"),
		len(err.Error()) > 500, !strings.Contains(err.Error(), want):
		t.Errorf("%s: error %q; want a line with %q", name, err, want)
	}
}

// TestRefusesFields changes one field of a good file.
func TestRefusesFields(t *testing.T) {
	token := func(over map[string]any) map[string]any {
		m := map[string]any{"id": 388, "content": "<new>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}
		for k, v := range over {
			m[k] = v
		}
		return m
	}
	tokens := func(over ...map[string]any) []any {
		var out []any
		for _, o := range over {
			out = append(out, token(o))
		}
		return out
	}
	split := at("pre_tokenizer", "pretokenizers", 0)
	for _, c := range []struct {
		name, file string
		path       []any
		value      any
		want       string
	}{
		{"unknown regex", "qwen", append(split, "pattern", "Regex"), `\p{Lu}+|\s+`, `pattern.Regex: the expression "\\p{Lu}+|\\s+" is not known`},
		{"regex of another type", "qwen", append(split, "pattern", "Regex"), 7, "a number instead of text"},
		{"pattern is a string", "qwen", append(split, "pattern"), map[string]any{"String": " "}, "missing: pre_tokenizer.pretokenizers[0].pattern.Regex"},
		{"behavior", "qwen", append(split, "behavior"), "Removed", `behavior: "Removed", invert false is not supported`},
		{"invert", "qwen", append(split, "invert"), true, "invert true is not supported"},
		{"three steps", "qwen", at("pre_tokenizer", "pretokenizers"), []any{1, 2, 3}, "a number instead of an object"},
		{"no steps", "qwen", at("pre_tokenizer", "pretokenizers"), []any{}, "pre_tokenizer: is not supported"},
		{"second split", "qwen", at("pre_tokenizer", "pretokenizers", 1, "use_regex"), true, "only ByteLevel with use_regex"},
		{"pre-tokenizer missing", "gpt2", at("pre_tokenizer"), nil, "missing: pre_tokenizer"},
		{"pre-tokenizer null", "gpt2", at("pre_tokenizer"), null, "missing: pre_tokenizer"},
		{"pre-tokenizer unknown", "gpt2", at("pre_tokenizer", "type"), "Metaspace", "pre_tokenizer: is not supported before a BPE model"},
		{"prefix missing", "gpt2", at("pre_tokenizer", "add_prefix_space"), nil, "missing: pre_tokenizer.add_prefix_space"},
		{"whitespace before WordPiece", "wordpiece", at("pre_tokenizer", "type"), "Whitespace", `"Whitespace" before a WordPiece model`},
		{"normalizer unknown", "qwen", at("normalizer", "type"), "NFKC", `normalizer.type: "NFKC" is not supported`},
		{"normalizer a list", "qwen", at("normalizer"), []any{}, `"normalizer": a list instead of an object`},
		{"normalizer without type", "qwen", at("normalizer"), map[string]any{}, "missing: normalizer.type"},
		{"strip_accents a number", "wordpiece", at("normalizer", "strip_accents"), 1, `"normalizer.strip_accents": a number instead of true or false`},
		{"decoder unknown", "gpt2", at("decoder", "type"), "Metaspace", `decoder.type: "Metaspace" after a BPE model`},
		{"decoder missing", "gpt2", at("decoder"), nil, "missing: decoder"},
		{"decoder of BERT", "wordpiece", at("decoder", "type"), "ByteLevel", `decoder.type: "ByteLevel" after a WordPiece model`},
		{"version", "gpt2", at("version"), "2.0", `version: "2.0" is unknown`},
		{"model missing", "gpt2", at("model"), nil, "missing: model"},
		{"model null", "gpt2", at("model"), null, "missing: model"},
		{"model unknown", "gpt2", at("model", "type"), "Unigram", `model.type: "Unigram" is not supported`},
		{"model type a number", "gpt2", at("model", "type"), 3, `"model.type": a number instead of text`},
		{"vocab missing", "gpt2", at("model", "vocab"), nil, "missing: model.vocab"},
		{"vocab a list", "gpt2", at("model", "vocab"), []any{"a"}, `"model.vocab": a list instead of an object`},
		{"id a string", "gpt2", at("model", "vocab", "a"), "5", `token "a" has id "\"5\""`},
		{"id null", "gpt2", at("model", "vocab", "a"), null, `token "a" has id "null"`},
		{"id negative", "gpt2", at("model", "vocab", "a"), -1, `token "a" has id "-1": must be a whole number in 0..2097151`},
		{"id huge", "gpt2", at("model", "vocab", "a"), 1 << 40, `token "a" has id "1099511627776"`},
		{"id beyond 64 bits", "gpt2", at("model", "vocab", "a"), json.RawMessage("99999999999999999999"), `token "a" has id`},
		{"id a fraction", "gpt2", at("model", "vocab", "a"), 1.5, `token "a" has id "1.5"`},
		{"id twice", "gpt2", at("model", "vocab", "a"), 65, `tokens "a" and "b" share id 65`},
		{"merges missing", "gpt2", at("model", "merges"), nil, "missing: model.merges"},
		{"merges null", "gpt2", at("model", "merges"), null, "missing: model.merges"},
		{"merge of unknown parts", "gpt2", at("model", "merges", 3), "q zzz", `model.merges[3]: "q" and "zzz": both and what they make`},
		{"merge to an unknown whole", "gpt2", at("model", "merges", 3), "q z", `model.merges[3]: "q" and "z": both and what they make`},
		{"merge of one part", "gpt2", at("model", "merges", 0), "qz", `model.merges[0]: "qz": must be two tokens`},
		{"merge of three parts", "gpt2", at("model", "merges", 0), "q z z", `model.merges[0]: "q z z": must be two tokens`},
		{"merge a number", "gpt2", at("model", "merges", 0), 5, `"model.merges": a number instead of`},
		{"pair of three", "qwen", at("model", "merges", 1), []any{"a", "b", "c"}, "model.merges[1]: 3 tokens: must be 2"},
		{"pair null", "qwen", at("model", "merges", 1), null, "model.merges[1]: 0 tokens"},
		{"dropout", "gpt2", at("model", "dropout"), 0.1, "ids would be random"},
		{"byte_fallback of a lacking byte", "lacking", at("model", "byte_fallback"), true, "byte_fallback: true is not supported where the vocabulary lacks bytes"},
		{"prefix of pieces", "gpt2", at("model", "continuing_subword_prefix"), "##", "byte-level models have none"},
		{"ignore_merges a string", "gpt2", at("model", "ignore_merges"), "yes", `"model.ignore_merges": text instead of true or false`},
		{"unknown token not there", "wordpiece", at("model", "unk_token"), "<unk>", `"<unk>" is not in the vocabulary`},
		{"word limit negative", "wordpiece", at("model", "max_input_chars_per_word"), -4, "-4: 0 to 200 are read"},
		{"word limit absurd", "wordpiece", at("model", "max_input_chars_per_word"), 1 << 30, "0 to 200 are read"},
		{"added tokens null", "gpt2", at("added_tokens"), null, "missing: added_tokens"},
		{"added token null", "gpt2", at("added_tokens", 0), null, "missing: added_tokens[0].id"},
		{"added token without id", "gpt2", at("added_tokens", 0, "id"), nil, "missing: added_tokens[0].id"},
		{"added token id null", "gpt2", at("added_tokens", 0, "id"), null, "missing: added_tokens[0].id"},
		{"added token id negative", "gpt2", at("added_tokens", 0, "id"), -7, "added_tokens[0].id: -7 for"},
		{"added token id huge", "gpt2", at("added_tokens", 0, "id"), 1e30, `"added_tokens[0].id": the number 1e+30 instead of a whole number`},
		{"added token flag missing", "gpt2", at("added_tokens", 0, "lstrip"), nil, "missing: added_tokens[0].lstrip"},
		{"added token empty", "gpt2", at("added_tokens", 0, "content"), "", "added_tokens[0].content: 0 bytes"},
		{"added token too long", "gpt2", at("added_tokens", 0, "content"), strings.Repeat("x", 1025), "added_tokens[0].content: 1025 bytes"},
		{"added token twice", "gpt2", at("added_tokens", 1, "content"), "<|endoftext|>", "is listed twice"},
		{"added token misnumbered", "gpt2", at("added_tokens", 2, "id"), 50300, "the tokenizers library gives it"},
		{"added tokens with a gap", "gpt2", at("added_tokens"), tokens(map[string]any{"id": 400}), `400 for "<new>": the tokenizers library gives it 376`},
		{"two the same in normalized text", "wordpiece", at("added_tokens"), tokens(
			map[string]any{"id": 82, "content": "Zed", "normalized": true}, map[string]any{"id": 83, "content": "ZED", "normalized": true}),
			`"Zed" and "ZED" are the same in normalized text`},
		{"nothing left in normalized text", "wordpiece", at("added_tokens"), tokens(
			map[string]any{"id": 82, "content": "\u0301", "normalized": true}), "normalizes to 0 bytes"},
	} {
		_, err := Parse("x.json", edited(t, c.file, c.value, c.path...))
		checkLine(t, c.name, err, c.want)
	}
}

// TestRefusesFiles passes whole files that are invalid.
func TestRefusesFiles(t *testing.T) {
	good := reftest.Must(os.ReadFile(reftest.Data(t, "tokenizers", "gpt2.tokenizer.json")))(t)
	for _, c := range []struct{ name, data, want string }{
		{"empty", "", "the JSON ends too early: give a whole"},
		{"null", "null", "missing: model"},
		{"list", "[]", "a list instead of an object"},
		{"number", "5", "a number instead of an object"},
		{"no fields", "{}", "missing: model"},
		{"truncated", string(good[:len(good)/2]), "the JSON ends too early"},
		{"two files", string(good) + string(good), "not JSON: invalid character"},
		{"binary", "\x00\x01\xff\xfe", "is not UTF-8"},
		{"broken UTF-8", strings.Replace(string(good), "endoftext", "end\xfftext", 1), "is not UTF-8"},
		{"deep lists", strings.Repeat("[", 1<<20), "exceeded max depth"},
		{"deep objects", strings.Repeat(`{"model":`, 1<<17), "exceeded max depth"},
		{"HTML", "<!DOCTYPE html>", "not JSON: invalid character"},
		{"field in capitals", strings.Replace(string(good), `"model"`, `"Model"`, 1), "missing: model"},
	} {
		_, err := Parse("x.json", []byte(c.data))
		checkLine(t, c.name, err, c.want)
	}
}

func TestOpen(t *testing.T) {
	file := reftest.Data(t, "tokenizers", "gpt2.tokenizer.json")
	a := reftest.Must(Open(t.Context(), file))(t)
	dir := t.TempDir()
	data := reftest.Must(os.ReadFile(file))(t)
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "tokenizer.json"), data, 0o600))
	b, err := Open(t.Context(), dir)
	reftest.OK(t, err)
	if a.Digest() != b.Digest() || !strings.HasPrefix(a.Digest(), "sha256:") || len(a.Digest()) != len("sha256:")+64 {
		t.Errorf("digests %q and %q of one file", a.Digest(), b.Digest())
	}
	for _, missing := range []string{filepath.Join(dir, "none.json"), t.TempDir()} {
		_, err := Open(t.Context(), missing)
		checkLine(t, missing, err, "give a tokenizer.json or a folder")
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open(%q) = %v; want an error that is fs.ErrNotExist", missing, err)
		}
	}
	odd := t.TempDir()
	reftest.OK(t, os.Mkdir(filepath.Join(odd, "tokenizer.json"), 0o700))
	_, err = Open(t.Context(), odd)
	checkLine(t, "folder of that name", err, "not a regular file")
}

// TestUnknownIDs checks that errors name the ids without a token.
func TestUnknownIDs(t *testing.T) {
	tok := openSmall(t, "gpt2")
	for _, c := range []struct {
		ids  []int
		want string
	}{
		{[]int{1, 2, 9999}, "id 9999 at position 2"},
		{[]int{-1}, "id -1 at position 0"},
		{[]int{tok.Size()}, "ids run from 0 to 386"},
	} {
		_, err := tok.Decode(c.ids)
		checkLine(t, "Decode", err, c.want)
		_, err = tok.DecodeText(c.ids)
		checkLine(t, "DecodeText", err, c.want)
	}
}
