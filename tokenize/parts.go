package tokenize

import "strings"

// A Part is a piece of a text. Of one that is Plain every character is text, whatever added
// tokens it spells.
type Part struct {
	Text  string
	Plain bool
}

// EncodeParts returns the ids of a text in parts: those of [Tokenizer.Encode] of the whole, but that added
// tokens are found in parts alone that are not plain. What stands between two added tokens
// is read as one text, over the seams of its parts.
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
	pre := t.matched.pre
	for _, p := range parts {
		if p.Plain {
			write(p.Text)
			continue
		}
		pre.raw.cut(lossyUTF8(p.Text), token, func(text string) { pre.normal.cut(pre.normalized(text), token, write) })
	}
	flush()
	if fault != nil {
		return nil, fault
	}
	return ids, nil
}
