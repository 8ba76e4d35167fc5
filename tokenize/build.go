package tokenize

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sugarme/tokenizer/decoder"

	"mdmgen/internal/plainjson"
)

// build makes a Tokenizer from the content of a file. Its errors name the field.
func build(data []byte) (*Tokenizer, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("is not UTF-8: give a tokenizer.json")
	}
	var fields map[string]json.RawMessage
	if err := plainjson.Plain(data, json.Unmarshal(data, &fields)); err != nil {
		return nil, fmt.Errorf("%w: give a whole tokenizer.json", err)
	}
	root := section{plainjson.NewObject(fields)}
	if root.Has("version") {
		if v := root.text("version"); v != "1.0" {
			root.fail("version", "%.80q is unknown: must be 1.0", v)
		}
	}
	m := root.sub("model")
	kind := modelKind(m)
	v := readVocab(m)
	added := readAdded(root, v)
	var pre preTokenizer
	pre.normalize = readNormalizer(root)
	raw, normal := matchers(root, added, pre.normalize)
	t := assemble(v, added)

	barred := make(map[int]bool)
	for _, a := range added {
		barred[a.id] = true
	}
	switch kind {
	case "BPE":
		readBytePre(root, &pre)
		full := readBPE(m, v)
		t.matched.model = full
		t.plain.model = bpe{full.bpeTables, barred}
		if kind := root.sub("decoder").text("type"); kind != "ByteLevel" {
			root.fail("decoder.type", "%.80q after a BPE model: only ByteLevel is read", kind)
		}
		t.decode = decodeBytes
	case "WordPiece":
		t.matched.model, t.plain.model, t.unknown = readWordPiece(m, v, barred)
		step := root.sub("pre_tokenizer")
		switch kind := step.text("type"); kind {
		case "Split":
			pre.split, t.whole = readWords(step), true
		case "BertPreTokenizer":
			pre.split = splitBert
		default:
			root.fail("pre_tokenizer.type", "%.80q before a WordPiece model: BertPreTokenizer, and some Split, are read", kind)
		}
		t.decode = readWordPieceDecoder(root, t.whole)
	}
	plain := pre
	t.plain.pre = &plain
	quoted := pre
	quoted.raw, quoted.normal = matchers(root, slices.DeleteFunc(slices.Clone(added), func(a addedToken) bool { return a.special }), pre.normalize)
	t.quoted = &quoted
	pre.raw, pre.normal = raw, normal
	t.matched.pre = &pre
	return t, root.Err()
}

// modelKind returns BPE or WordPiece, which old files do not state.
func modelKind(m section) string {
	switch {
	case m.Has("type"):
	case m.Has("merges"):
		return "BPE"
	case m.Has("max_input_chars_per_word"):
		return "WordPiece"
	}
	kind := m.text("type")
	if kind != "BPE" && kind != "WordPiece" {
		m.fail("type", "%.80q is not supported: BPE and WordPiece are read", kind)
	}
	return kind
}

// assemble makes the tables of ids, including those of added tokens.
func assemble(v vocabulary, added []addedToken) *Tokenizer {
	size := v.size
	for _, a := range added {
		size = max(size, a.id+1)
	}
	t := &Tokenizer{
		tokens:  make([]string, size),
		known:   make([]bool, size),
		ids:     make(map[string]int, len(v.ids)+len(added)),
		special: make(map[int]bool),
		unknown: None,
		mask:    None,
	}
	set := func(token string, id int) { t.tokens[id], t.known[id], t.ids[token] = token, true, id }
	for token, id := range v.ids {
		set(token, id)
	}
	for _, a := range added {
		set(a.content, a.id)
		t.tokens[a.id] = a.pattern
		if a.special {
			t.special[a.id] = true
		}
	}
	return t
}

// readNormalizer returns nil if the file has no normalizer.
func readNormalizer(root section) func(string) string {
	if !root.Has("normalizer") {
		return nil
	}
	s := root.sub("normalizer")
	switch kind := s.text("type"); kind {
	case "NFC":
		return nfc
	case "BertNormalizer":
		n := bertNormalizer{
			cleanText:    s.flag("clean_text"),
			chineseChars: s.flag("handle_chinese_chars"),
			lowercase:    s.flag("lowercase"),
		}
		n.stripAccents = n.lowercase
		if s.Has("strip_accents") {
			n.stripAccents = s.flag("strip_accents")
		}
		return n.normalize
	default:
		s.fail("type", "%.80q is not supported: null, NFC and BertNormalizer are read", kind)
	}
	return nil
}

// readBytePre reads the pre-tokenizer of a byte-level BPE model: ByteLevel, or a Split followed by
// a ByteLevel that only changes the alphabet.
func readBytePre(root section, pre *preTokenizer) {
	s := root.sub("pre_tokenizer")
	steps := []section{s}
	if s.text("type") == "Sequence" {
		steps = s.list("pretokenizers")
	}
	scan := func(s string) int { return len(s) }
	switch {
	case len(steps) == 2 && steps[0].text("type") == "Split":
		scan = readSplit(steps[0])
		if last := steps[1]; last.text("type") != "ByteLevel" || last.flag("use_regex") || last.flag("add_prefix_space") {
			last.fail("type", "only ByteLevel with use_regex and add_prefix_space false is read after Split")
		}
	case len(steps) == 1 && steps[0].text("type") == "ByteLevel":
		pre.prefix = steps[0].flag("add_prefix_space")
		if _, ok := steps[0].Fields["use_regex"]; !ok || steps[0].flag("use_regex") {
			scan = scanGPT2
		}
	default:
		root.fail("pre_tokenizer", "is not supported before a BPE model: ByteLevel and Split, ByteLevel are read")
	}
	pre.split = splitBy(scan)
}

// readSplit returns the scanner of a Split step.
func readSplit(s section) func(string) int {
	expr := s.sub("pattern").text("Regex")
	scan, ok := scanners[expr]
	if !ok {
		s.fail("pattern.Regex", "the expression %.80q is not known: those of GPT-2, LLaMA-3, Qwen2.5, Bailing and cl100k_base are", expr)
	}
	if b, invert := s.text("behavior"), s.flag("invert"); b != "Isolated" || invert {
		s.fail("behavior", "%.80q, invert %v is not supported: Isolated, false is read", b, invert)
	}
	return scan
}

// readWords returns the splitter of a Split whose matches are whole tokens.
func readWords(s section) splitter {
	expr := s.sub("pattern").text("Regex")
	i := slices.IndexFunc(wholeWords, func(re *regexp.Regexp) bool { return re.String() == expr })
	if s.text("behavior") != "Removed" || !s.flag("invert") || i < 0 {
		s.fail("pattern", "before a WordPiece model must remove all but letters, or all but the parts of a SMILES")
		return nil
	}
	return splitMatches(wholeWords[i])
}

// readWordPieceDecoder reads the decoder after a WordPiece model, of whole tokens or of pieces.
func readWordPieceDecoder(root section, whole bool) func([]string) string {
	s := root.sub("decoder")
	switch kind := s.text("type"); {
	case kind == "Fuse" && whole:
		return func(tokens []string) string { return strings.Join(tokens, "") }
	case kind != "WordPiece" || whole:
		s.fail("type", "%.80q after a WordPiece model: WordPiece is read, and Fuse after a Split", kind)
	}
	return decoder.NewWordPieceDecoder(s.text("prefix"), s.flag("cleanup")).Decode
}
