// Package printable writes what strangers chose, names of files, tensors and tokens,
// keys and texts of their files, so that it can do nothing to a terminal or to a page: no
// sequence that moves the cursor, no line that is none of the program's, no order of
// letters that shows something else than stands there.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// String returns s as a part of one line: characters that are not shown as themselves are
// written as in JSON, ESC as \u001b and a newline as \n, and a byte that is not UTF-8 as
// \xff. It returns text that has none of them as it is, backslashes included.
func String(s string) string { return escape(s, "") }

// Text is String for several lines: newlines and tabs stay.
func Text(s string) string { return escape(s, "\n\t") }

// Markdown is String for a cell or a paragraph of Markdown: what would be marks there is escaped,
// an underscore inside a word and a backslash before a letter are none.
func Markdown(s string) string {
	text := []rune(" " + String(s) + " ")
	var b strings.Builder
	for i, r := range text[:len(text)-1] {
		after := text[i+1]
		switch {
		case i == 0:
			continue
		case strings.ContainsRune("`*[]<>|~&", r), r == '_' && !(word(text[i-1]) && word(after)), r == '\\' && !word(after):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func word(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func escape(s, keep string) string {
	if strings.IndexFunc(s, hidden(keep)) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	hide := hidden(keep)
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		switch r, n = utf8.DecodeRuneInString(s[i:]); {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !hide(r):
			b.WriteString(s[i : i+n])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	return b.String()
}

// hidden reports characters that are not shown as themselves: controls, format
// characters and with them the overrides of direction, separators of lines, and what no
// character is assigned to. The joiners belong to words and to emoji.
func hidden(keep string) func(rune) bool {
	return func(r rune) bool {
		return !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d' && !strings.ContainsRune(keep, r)
	}
}
