package tokenize

// A pipeline turns text into ids: added tokens are cut out, the rest is normalized and cut into
// pre-tokens, and the model turns each of these into tokens.
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
// It does the same as the library's Tokenizer.EncodeSingle, without the tables of alignments and of
// pieces: these take two hundred bytes for each byte of the text, and the ids do not need them.
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

// preTokenizer is the part before the model in every family. It also does the work of the
// normalizer and of the added vocabulary: the library's own lose tokens.
type preTokenizer struct {
	// raw and normal match added tokens before and after normalization; they are nil if all text is
	// text.
	raw, normal *matcher
	// normalize is nil if the file has no normalizer.
	normalize func(string) string
	// prefix means that text gets a leading space if it has none.
	prefix bool
	split  splitter
}

// A splitter calls emit for each pre-token of a text, in order, and returns the number of bytes
// that it has consumed: all of the text, unless more text follows. Then it stops before the first
// pre-token that the following text could change, so that continuing there with the rest yields the
// pre-tokens of the whole.
type splitter func(text string, more bool, emit func(string)) int

func (p *preTokenizer) normalized(text string) string {
	if p.normalize == nil {
		return text
	}
	return p.normalize(text)
}
