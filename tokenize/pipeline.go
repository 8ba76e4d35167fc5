package tokenize

// A pipeline is what happens to text: added tokens are cut out, the rest is
// normalized and cut into pre-tokens, the model makes tokens of each.
type pipeline struct {
	pre   *preTokenizer
	model subwords
}

// subwords is a model: it appends the ids of a pre-token.
type subwords interface {
	appendIDs(ids []int, word string) ([]int, error)
}

// encode returns the ids of a text, valid UTF-8 or not.
//
// It does what the library's Tokenizer.EncodeSingle does, less the tables of
// alignments and of pieces: those take two hundred bytes for each byte of the
// text, and the ids do not need them.
func (p pipeline) encode(text string) ([]int, error) {
	ids := []int{}
	var fault error
	token := func(t *addedToken) { ids = append(ids, t.id) }
	p.pre.raw.cut(lossyUTF8(text), token, func(text string) {
		p.pre.normal.cut(p.pre.normalized(text), token, func(text string) {
			if p.pre.prefix && text[0] != ' ' {
				text = " " + text
			}
			p.pre.split(text, false, func(word string) {
				if fault == nil {
					ids, fault = p.model.appendIDs(ids, word)
				}
			})
		})
	})
	if fault != nil {
		return nil, fault
	}
	return ids, nil
}

// preTokenizer is what stands before the model of every family. It also does the
// work of the normalizer and of the added vocabulary: the library's own lose
// tokens.
type preTokenizer struct {
	// raw and normal match added tokens before and after normalization; nil
	// where all text is text.
	raw, normal *matcher
	// normalize is nil where the file has no normalizer.
	normalize func(string) string
	// prefix means that a space is put before text that has none.
	prefix bool
	split  splitter
}

// A splitter calls emit for each pre-token of a text, in order, and returns how
// many bytes of the text they and what lies between them take: all of it, unless
// more text follows. Then it stops before the first pre-token that what follows
// could change, so that going on from there with the rest gives the pre-tokens of
// the whole.
type splitter func(text string, more bool, emit func(string)) int

func (p *preTokenizer) normalized(text string) string {
	if p.normalize == nil {
		return text
	}
	return p.normalize(text)
}
