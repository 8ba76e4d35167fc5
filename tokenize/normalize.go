package tokenize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	encoding "golang.org/x/text/encoding/unicode"
)

// bertNormalizer holds BertNormalizer's settings, which apply in the order of its fields.
type bertNormalizer struct {
	cleanText    bool // drop control characters, turn white space into blanks
	chineseChars bool // blanks around Han characters
	stripAccents bool // NFD without nonspacing marks
	lowercase    bool // character by character: no final sigma
}

// normalize returns s as BertNormalizer normalizes it.
func (n bertNormalizer) normalize(s string) string {
	if n.cleanText || n.chineseChars {
		var b strings.Builder
		b.Grow(len(s))
		for _, r := range s {
			switch {
			case n.cleanText && isBertControl(r):
			case n.cleanText && unicode.IsSpace(r):
				b.WriteByte(' ')
			case n.chineseChars && isHan(r):
				b.WriteByte(' ')
				b.WriteRune(r)
				b.WriteByte(' ')
			default:
				b.WriteRune(r)
			}
		}
		s = b.String()
	}
	if n.stripAccents {
		s = strings.Map(func(r rune) rune {
			if isBertMark(r) {
				return -1
			}
			return r
		}, nfd(s))
	}
	if n.lowercase {
		s = strings.Map(toLower, strings.ReplaceAll(s, "İ", "i̇"))
	}
	return s
}

// splitBert is BertPreTokenizer: words between white space, and punctuation characters as words of
// their own. It looks at one character at a time, so only the last word can change with the text
// after it.
func splitBert(text string, more bool, emit func(string)) int {
	start := 0
	for i, r := range text {
		blank := unicode.IsSpace(r)
		if !blank && !isBertPunct(r) {
			continue
		}
		if start < i {
			emit(text[start:i])
		}
		start = i + utf8.RuneLen(r)
		if !blank {
			emit(text[i:start])
		}
	}
	if more {
		return start
	}
	if start < len(text) {
		emit(text[start:])
	}
	return len(text)
}

// lossyUTF8 replaces each maximal invalid part of s by U+FFFD, as the Unicode standard recommends
// (section 3.9, "U+FFFD Substitution of Maximal Subparts") and the Rust library's decoders do: a
// truncated character becomes one U+FFFD, not one for each byte.
func lossyUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	// It never fails.
	s, _ = encoding.UTF8.NewDecoder().String(s)
	return s
}
