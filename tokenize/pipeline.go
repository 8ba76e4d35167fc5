package tokenize

import (
	"github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/normalizer"
)

// A pipeline is what happens to text: added tokens are cut out, the rest is
// normalized and cut into pre-tokens, the model makes tokens of each.
type pipeline struct {
	pre   *preTokenizer
	model tokenizer.Model
}

// encode returns the ids of a text, valid UTF-8 or not.
//
// It does what the library's Tokenizer.EncodeSingle does, less the alignment
// tables: those take an allocation for each byte of the text, and the ids do not
// need them.
func (p pipeline) encode(text string) ([]int, error) {
	text = lossyUTF8(text)
	whole := tokenizer.NewPreTokenizedStringFromNS(bare(text))
	cut, err := p.pre.PreTokenize(whole)
	if err != nil {
		return nil, err
	}
	done, err := cut.Tokenize(func(s *normalizer.NormalizedString) ([]tokenizer.Token, error) {
		return p.model.Tokenize(s.GetNormalized())
	})
	if err != nil {
		return nil, err
	}
	ids := []int{}
	for _, piece := range done.GetSplits(normalizer.NormalizedTarget, tokenizer.Byte) {
		for _, token := range piece.Tokens {
			ids = append(ids, token.Id)
		}
	}
	return ids, nil
}

// bare wraps a string without alignment tables.
func bare(s string) *normalizer.NormalizedString {
	return normalizer.NewNormalizedString(s, s, nil, nil, 0)
}

// preTokenizer is the library's PreTokenizer for all families. It also does the
// work of the normalizer and of the added vocabulary: the library's own lose
// tokens.
type preTokenizer struct {
	// raw and normal match added tokens before and after normalization; nil
	// where all text is text.
	raw, normal *matcher
	// normalize is nil where the file has no normalizer.
	normalize func(string) string
	// prefix says that a space is put before text that has none.
	prefix bool
	// split calls emit for each pre-token, in order.
	split func(text string, emit func(string))
}

var _ tokenizer.PreTokenizer = (*preTokenizer)(nil)

// PreTokenize cuts every piece that has no tokens yet.
func (p *preTokenizer) PreTokenize(pt *tokenizer.PreTokenizedString) (*tokenizer.PreTokenizedString, error) {
	return pt.Split(func(_ int, s *normalizer.NormalizedString) []tokenizer.SplitIdx {
		var out []tokenizer.SplitIdx
		token := func(m match) {
			out = append(out, tokenizer.SplitIdx{
				Normalized: bare(m.token.content),
				Tokens:     []tokenizer.Token{{Id: m.token.id, Value: m.token.content, Offsets: []int{0, len(m.token.content)}}},
			})
		}
		word := func(w string) {
			out = append(out, tokenizer.SplitIdx{Normalized: bare(w)})
		}
		p.raw.cut(s.GetNormalized(), token, func(text string) {
			if p.normalize != nil {
				text = p.normalize(text)
			}
			p.normal.cut(text, token, func(text string) {
				if p.prefix && text[0] != ' ' {
					text = " " + text
				}
				p.split(text, word)
			})
		})
		return out
	}), nil
}
