package tokenize

import (
	"slices"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// nfc and nfd are the normalization forms of the reference. They are those of golang.org/x/text,
// except for two kinds of text that are decomposed here: x/text breaks runs of more than 30
// combining marks with U+034F (the Stream-Safe Text Process), and it knows marks that are missing
// in the reference's older tables.
func nfc(s string) string {
	if !uneven(s) {
		return norm.NFC.String(s)
	}
	return string(compose(decompose(s)))
}

func nfd(s string) string {
	if !uneven(s) {
		return norm.NFD.String(s)
	}
	out := decompose(s)
	r := make([]rune, len(out))
	for i, m := range out {
		r[i] = m.r
	}
	return string(r)
}

// uneven reports whether x/text and the reference may differ on s. More than 8 marks in a row count
// as too many: some decompose to two, and the letter before them adds up to three of its own, which
// stays below 30.
func uneven(s string) bool {
	run := 0
	for _, r := range s {
		if r < 0x300 || !unicode.Is(unicode.M, r) {
			if r == 0x11938 {
				return true
			}
			run = 0
			continue
		}
		run++
		if run > 8 || unicode.Is(lateOrder, r) {
			return true
		}
	}
	return false
}

// mark is a character and its canonical combining class; 0 for letters.
type mark struct {
	r     rune
	class uint8
}

// decompose returns the canonical decomposition of s in canonical order (Unicode
// Standard, D68 and D109).
func decompose(s string) []mark {
	var out []mark
	for _, r := range s {
		if unicode.Is(lateOrder, r) {
			out = append(out, mark{r, 0})
			continue
		}
		for _, d := range norm.NFD.String(string(r)) {
			out = append(out, mark{d, norm.NFD.PropertiesString(string(d)).CCC()})
		}
	}
	for i := 0; i < len(out); {
		j := i
		for j < len(out) && out[j].class > 0 {
			j++
		}
		slices.SortStableFunc(out[i:j], func(a, b mark) int { return int(a.class) - int(b.class) })
		i = max(j, i+1)
	}
	return out
}

// compose returns the canonical composition of ordered marks (D117).
func compose(in []mark) []rune {
	var out []rune
	starter := -1    // index of the last letter in out
	stayed := false  // some mark after it did not become part of it
	last := uint8(0) // the class of that mark
	for _, m := range in {
		if starter >= 0 && (!stayed || last < m.class) {
			if c, ok := pair(out[starter], m.r); ok {
				out[starter] = c
				continue
			}
		}
		if m.class == 0 {
			starter, stayed = len(out), false
		} else {
			stayed, last = true, m.class
		}
		out = append(out, m.r)
	}
	return out
}

// pair returns the character composed of two others.
func pair(a, b rune) (rune, bool) {
	if unicode.Is(lateOrder, a) || unicode.Is(lateOrder, b) {
		return 0, false
	}
	r := []rune(norm.NFC.String(string([]rune{a, b})))
	if len(r) != 1 {
		return 0, false
	}
	return r[0], true
}
