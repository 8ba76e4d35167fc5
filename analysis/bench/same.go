package bench

import (
	"fmt"
	"strings"

	"mdmgen/samplers/catalog"
)

// shownSame is how many pairs a note names.
const shownSame = 3

// SameNote names cells that sample the same distribution though they are called differently, ""
// for none: their differences are noise.
func SameNote(cells []Cell) string {
	var pairs []string
	for i := range cells {
		for j := range cells[:i] {
			a, b := &cells[j], &cells[i]
			if a.Free == b.Free && len(a.Canvas) == len(b.Canvas) && a.lawKey(true) != b.lawKey(true) && catalog.SameLaw(a.Sampler, b.Sampler, a.Free, a.Model.Facts().TimeConditioned) {
				pairs = append(pairs, a.ID+" and "+b.ID)
			}
		}
	}
	return NoteSame(pairs)
}

// NoteSame is the note of pairs, "" for none.
func NoteSame(pairs []string) string {
	if len(pairs) == 0 {
		return ""
	}
	out := "Same distribution, so that differences are noise: " + strings.Join(pairs[:min(len(pairs), shownSame)], "; ")
	if more := len(pairs) - shownSame; more > 0 {
		out += fmt.Sprintf("; and %d more", more)
	}
	return out + "."
}
