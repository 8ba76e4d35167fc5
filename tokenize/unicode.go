package tokenize

import "unicode"

// The reference library takes its character classes from several sources, each with its own Unicode
// version, none of which is Go's 15.0: the Split expressions use Unicode 16, BertNormalizer and
// BertPreTokenizer Unicode 8. The tables here are the differences, found by querying tokenizers
// 0.23.3 for every code point; testdata/tokenizers/classes.json holds its answers, and a test
// compares all of them. Text without these rare characters does not depend on the tables.

// isLetter is \p{L}.
func isLetter(r rune) bool {
	return unicode.IsLetter(r) || r > 0x1C00 && unicode.Is(lateLetters, r)
}

// isNumber is \p{N}.
func isNumber(r rune) bool {
	return unicode.IsNumber(r) || r > 0x10000 && unicode.Is(lateNumbers, r)
}

// isBertPunct reports whether BertPreTokenizer makes r a word of its own: all ASCII symbols, and
// punctuation.
func isBertPunct(r rune) bool {
	if r < 0x80 {
		return unicode.IsPunct(r) || unicode.IsSymbol(r)
	}
	switch r {
	case 0x166D, 0x111C9: // no longer punctuation
		return true
	}
	return unicode.IsPunct(r) && !unicode.Is(latePunct, r)
}

// isBertControl reports whether clean_text removes r: control characters, format characters and
// private use, but not unassigned characters.
func isBertControl(r rune) bool {
	switch r {
	case '\t', '\n', '\r':
		return false
	case 0, 0xFFFD:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && !unicode.Is(lateFormat, r)
}

// isBertMark reports whether strip_accents removes r.
func isBertMark(r rune) bool {
	if r < 0x300 {
		return false
	}
	return r == 0x1734 || unicode.Is(unicode.Mn, r) && !unicode.Is(lateMarks, r)
}

// isHan reports whether handle_chinese_chars puts spaces around r. The last block of extension E
// begins 0x100 too late, as in the reference.
func isHan(r rune) bool {
	return r >= 0x3400 && unicode.Is(han, r)
}

var han = &unicode.RangeTable{
	R16: []unicode.Range16{{0x3400, 0x4DBF, 1}, {0x4E00, 0x9FFF, 1}, {0xF900, 0xFAFF, 1}},
	R32: []unicode.Range32{{0x20000, 0x2A6DF, 1}, {0x2A700, 0x2B73F, 1}, {0x2B740, 0x2B81F, 1}, {0x2B920, 0x2CEAF, 1}, {0x2F800, 0x2FA1F, 1}},
}

// toLower returns the lower case of Unicode 17. bertNormalizer handles the only mapping to more
// than one character, that of U+0130.
func toLower(r rune) rune {
	if r < 0x1C89 {
		return unicode.ToLower(r)
	}
	switch {
	case r == 0x1C89, r == 0xA7CC, r == 0xA7CE, r == 0xA7D2, r == 0xA7D4, r == 0xA7DA:
		return r + 1
	case r == 0xA7CB:
		return 0x0264
	case r == 0xA7DC:
		return 0x019B
	case 0x10D50 <= r && r <= 0x10D65:
		return r + 0x20
	case 0x16EA0 <= r && r <= 0x16EB8:
		return r + 0x1B
	}
	return unicode.ToLower(r)
}
