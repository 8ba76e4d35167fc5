package tokenize

import "strings"

// A Part is a piece of a text. In a Plain part every character is text, whatever special tokens it
// spells; added tokens that are not special are matched.
type Part struct {
	Text  string
	Plain bool
}

// EncodeParts returns the ids of a text in parts: those of [Tokenizer.Encode] for the whole text,
// except that special tokens are found only in parts that are not plain, and no added token across
// the boundaries of parts. The text between two added tokens is read as one.
func (t *Tokenizer) EncodeParts(parts []Part) ([]int, error) {
	ids := []int{}
	var run strings.Builder
	var fault error
	flush := func() {
		if fault != nil || run.Len() == 0 {
			return
		}
		var more []int
		more, fault = t.EncodePlain(run.String())
		ids = append(ids, more...)
		run.Reset()
	}
	token := func(t *addedToken) {
		flush()
		ids = append(ids, t.id)
	}
	write := func(text string) { run.WriteString(text) }
	for _, p := range parts {
		pre := t.matched.pre
		if p.Plain {
			pre = t.quoted
		}
		pre.raw.cut(lossyUTF8(p.Text), token, func(text string) { pre.normal.cut(pre.normalized(text), token, write) })
	}
	flush()
	if fault != nil {
		return nil, fault
	}
	return ids, nil
}
