package bench

import (
	"fmt"
	"strings"

	"mdmgen/samplers/catalog"
)

// maxNamed is how many of a list a note names.
const maxNamed = 3

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
	if len(pairs) == 0 {
		return ""
	}
	return "Same distribution, so that differences are noise: " + Named(pairs, "; ") + "."
}

// Named lists the first few names, and how many more there are.
func Named(names []string, between string) string {
	out := strings.Join(names[:min(len(names), maxNamed)], between)
	if more := len(names) - maxNamed; more > 0 {
		out += fmt.Sprintf("%sand %d more", between, more)
	}
	return out
}
