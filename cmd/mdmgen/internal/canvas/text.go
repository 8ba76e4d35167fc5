package canvas

import (
	"fmt"
	"strings"
)

// Text decodes a canvas; runs of masks that were left are written as {{N}}, the
// syntax in which --infill reads them.
func Text(t Decoder, ids []int, mask int) (string, error) {
	var b strings.Builder
	for i := 0; i < len(ids); {
		j := i
		for j < len(ids) && (ids[j] == mask) == (ids[i] == mask) {
			j++
		}
		if ids[i] == mask {
			fmt.Fprintf(&b, "{{%d}}", j-i)
		} else {
			s, err := t.Decode(ids[i:j])
			if err != nil {
				return "", err
			}
			b.WriteString(s)
		}
		i = j
	}
	return b.String(), nil
}

// Filled are the texts that ids have in the gaps of a canvas, its runs of masks, in order: what they
// add to the text before them. Positions behind the canvas are the last gap's.
func Filled(t Decoder, canvas, ids []int, mask int) (texts []string, err error) {
	gap := func(l int) bool { return l >= len(canvas) || canvas[l] == mask }
	for before, i := 0, 0; i < len(ids); {
		j := i
		for j < len(ids) && gap(j) == gap(i) {
			j++
		}
		if gap(i) {
			text, err := between(t, ids[before:j], i-before, mask)
			if err != nil {
				return nil, err
			}
			texts = append(texts, text)
		}
		before, i = i, j
	}
	return texts, nil
}

// between is what ids from position on add to the text of those before.
func between(t Decoder, ids []int, from, mask int) (string, error) {
	before, err := Text(t, ids[:from], mask)
	if err != nil {
		return "", err
	}
	whole, err := Text(t, ids, mask)
	if err != nil {
		return "", err
	}
	if rest, ok := strings.CutPrefix(whole, before); ok {
		return rest, nil
	}
	return Text(t, ids[from:], mask) // A character that begins before them.
}

// Decoder turns ids into text.
type Decoder interface {
	Decode(ids []int) (string, error)
}
