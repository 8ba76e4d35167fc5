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
	"unicode/utf8"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
	"mdmgen/internal/wordlist"
)

// The Split expressions of WordLevel models, whose matches are tokens. Other text has none: white
// space, by both.
const (
	exprLetters = `\S`
	// Atoms, bonds and the like of molecules in SMILES (Schwaller et al. 2018, arXiv 1711.04810), and any
	// other character.
	exprSMILES = `%\([0-9]{3}\)|\[[^\]\s]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\||\(|\)|\.|=|#|-|\+|\\|/|:|~|@|\?|>>?|\*|\$|%[0-9]{2}|[0-9]|\S`
)

// wordExpressions are these expressions, compiled.
var wordExpressions = map[string]*regexp.Regexp{exprLetters: regexp.MustCompile(exprLetters), exprSMILES: regexp.MustCompile(exprSMILES)}

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

// wordLevel is a model whose tokens are whole pre-tokens. It returns no barred id but the unknown
// token's, None for none.
type wordLevel struct {
	ids     map[string]int
	barred  map[int]bool
	unknown int
}

func (m wordLevel) appendIDs(ids []int, word string) ([]int, error) {
	id, ok := m.ids[word]
	if !ok || m.barred[id] {
		if id = m.unknown; id == None {
			return ids, fmt.Errorf("%.80q has no token", word)
		}
	}
	return append(ids, id), nil
}

// words makes a tokenizer.json from the vocabulary of BERT's old checkpoints. If no token continues a
// word and each is one letter, or one part of a SMILES, these are the tokens of a text; else the text
// is cut into words and these into pieces. Results are as for slow.
func words(dir string) (data []byte, path string, err error) {
	read, err := wordlist.Read(plainfile.Folder(dir), dir)
	if err != nil {
		return nil, read.Path, err
	}
	vocab := read.IDs
	var c struct {
		Class   string `json:"tokenizer_class"`
		Lower   *bool  `json:"do_lower_case"`
		Accents *bool  `json:"strip_accents"`
		Chinese *bool  `json:"tokenize_chinese_chars"`
	}
	config := filepath.Join(dir, "tokenizer_config.json")
	text, err := plainfile.ReadFS(plainfile.Folder(dir), "tokenizer_config.json", maxFile)
	if err == nil {
		err = plainjson.Unmarshal(text, &c)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, config, err
	}
	whole, letters, smiles, capitals := true, true, true, false
	added := []map[string]any{}
	for _, token := range slices.SortedFunc(maps.Keys(vocab), func(a, b string) int { return vocab[a] - vocab[b] }) {
		if wordlist.Special(token) {
			if !strings.HasPrefix(token, "[unused") {
				added = append(added, map[string]any{"id": vocab[token], "content": token, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})
			}
			continue
		}
		whole = whole && (!strings.HasPrefix(token, "##") || token == "##")
		letters = letters && utf8.RuneCountInString(token) == 1
		smiles = smiles && wordExpressions[exprSMILES].FindString(token) == token
		capitals = capitals || strings.ContainsFunc(token, unicode.IsUpper)
	}
	lower := !capitals
	if c.Lower != nil {
		lower = *c.Lower
	}
	file := map[string]any{"version": "1.0", "added_tokens": added, "normalizer": map[string]any{
		"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": c.Chinese == nil || *c.Chinese, "strip_accents": c.Accents, "lowercase": lower}}
	model := map[string]any{"type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
	file["model"] = model
	split := map[string]any{"type": "Split", "pattern": map[string]string{"Regex": exprLetters}, "behavior": "Removed", "invert": true}
	switch {
	case whole && (letters || smiles):
		if !letters {
			split["pattern"] = map[string]string{"Regex": exprSMILES}
		}
		model["type"], file["pre_tokenizer"], file["decoder"] = "WordLevel", split, map[string]string{"type": "Fuse"}
	case c.Class != "" && strings.TrimSuffix(c.Class, "Fast") != "BertTokenizer":
		return nil, config, fmt.Errorf("tokenizer_class %.80q: with a vocab.txt BertTokenizer is read", c.Class)
	default:
		file["pre_tokenizer"] = map[string]string{"type": "BertPreTokenizer"}
		file["decoder"] = map[string]any{"type": "WordPiece", "prefix": "##", "cleanup": true}
	}
	data, err = json.Marshal(file)
	return data, read.Path, err
}
