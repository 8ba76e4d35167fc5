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

// Decoder turns ids into text.
type Decoder interface {
	Decode(ids []int) (string, error)
}
