package bench

import (
	"fmt"
	"strings"

	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// shownSame is how many pairs a note names.
const shownSame = 3

// SameNote says which cells sample the same distribution though they are called differently, ""
// where none do: what they then differ in is noise.
func SameNote(cells []Cell) string {
	var pairs []string
	for i := range cells {
		for j := range cells[:i] {
			a, b := &cells[j], &cells[i]
			apart := a.Free != b.Free || len(a.Canvas) != len(b.Canvas) || a.exactLaw() == b.exactLaw()
			if !apart && catalog.SameLaw(a.Sampler, b.Sampler, a.Free, a.Model.Facts().TimeConditioned) {
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

// exactLaw is lawKey without what cannot change the law: of cells that share it everybody knows.
func (c *Cell) exactLaw() string {
	short := *c
	short.Setting.Options.Lookahead = 0
	if short.Setting.Options.By != draw.ByFloat32Gumbel {
		short.Setting.Options.By = ""
	}
	return short.lawKey(true)
}
