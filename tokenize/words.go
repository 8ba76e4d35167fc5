package tokenize

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"mdmgen/internal/plainjson"
	"mdmgen/internal/wordlist"
)

// wholeWords are the Split expressions whose matches are whole tokens: letters, and the atoms, bonds and
// so on of molecules in SMILES (Schwaller et al. 2018, arXiv 1711.04810) with any other character. Neither
// matches white space.
var wholeWords = []*regexp.Regexp{
	regexp.MustCompile(`\S`),
	regexp.MustCompile(`%\([0-9]{3}\)|\[[^\]\s]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\||\(|\)|\.|=|#|-|\+|\\|/|:|~|@|\?|>>?|\*|\$|%[0-9]{2}|[0-9]|\S`),
}

// splitMatches returns the splitter whose pre-tokens are the matches of an expression, which have no
// white space.
func splitMatches(re *regexp.Regexp) splitter {
	return func(text string, more bool, emit func(string)) int {
		if more {
			text = text[:strings.LastIndexAny(text, " \t\n\f\r")+1]
		}
		for _, at := range re.FindAllStringIndex(text, -1) {
			emit(text[at[0]:at[1]])
		}
		return len(text)
	}
}

// words makes a tokenizer.json from the vocabulary of BERT's old checkpoints. If every token is one
// letter, or one part of a SMILES, a text is cut into those; else into words, and these into pieces.
// Results are as for slow.
func words(dir string) (data []byte, path string, err error) {
	folder := wordlist.Folder(dir)
	path = filepath.Join(dir, wordlist.Name)
	vocab, err := wordlist.Read(folder)
	if err != nil {
		return nil, path, err
	}
	var c struct {
		Class   string `json:"tokenizer_class"`
		Lower   *bool  `json:"do_lower_case"`
		Accents *bool  `json:"strip_accents"`
		Chinese *bool  `json:"tokenize_chinese_chars"`
	}
	config := filepath.Join(dir, "tokenizer_config.json")
	if err := plainjson.ReadFS(folder, "tokenizer_config.json", maxFile, &c); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, config, err
	}
	var texts []string
	added, capitals := []map[string]any{}, false
	for _, token := range slices.SortedFunc(maps.Keys(vocab), func(a, b string) int { return vocab[a] - vocab[b] }) {
		if !wordlist.Special(token) {
			texts, capitals = append(texts, token), capitals || strings.ContainsFunc(token, unicode.IsUpper)
		} else if !strings.HasPrefix(token, "[unused") {
			added = append(added, map[string]any{"id": vocab[token], "content": token, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})
		}
	}
	lower := !capitals
	if c.Lower != nil {
		lower = *c.Lower
	}
	file := map[string]any{
		"version": "1.0", "added_tokens": added, "pre_tokenizer": map[string]string{"type": "BertPreTokenizer"},
		"normalizer": map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": c.Chinese == nil || *c.Chinese, "strip_accents": c.Accents, "lowercase": lower},
		"model":      map[string]any{"type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
		"decoder":    map[string]any{"type": "WordPiece", "prefix": "##", "cleanup": true},
	}
	i := slices.IndexFunc(wholeWords, func(re *regexp.Regexp) bool {
		return !slices.ContainsFunc(texts, func(token string) bool { return re.FindString(token) != token })
	})
	if i >= 0 {
		file["pre_tokenizer"] = map[string]any{"type": "Split", "pattern": map[string]string{"Regex": wholeWords[i].String()}, "behavior": "Removed", "invert": true}
		file["decoder"] = map[string]string{"type": "Fuse"}
	} else if c.Class != "" && strings.TrimSuffix(c.Class, "Fast") != "BertTokenizer" {
		return nil, config, fmt.Errorf("tokenizer_class %.80q: with a vocab.txt BertTokenizer is read", c.Class)
	}
	data, err = json.Marshal(file)
	return data, path, err
}
