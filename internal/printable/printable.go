// Package printable escapes text from untrusted sources, such as the names of files, tensors and
// tokens and the contents of files, so that it is harmless on a terminal or a page. It cannot move
// the cursor, add lines to the program's output, or show letters in another order.
package printable

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// String returns s as a part of one line. It writes characters that are not displayed as themselves
// as in JSON, ESC as \u001b and a newline as \n, and bytes that are not UTF-8 as \xff. Text without
// any is returned unchanged, including backslashes.
func String(s string) string { return escape(s, "") }

// Text is like String for several lines: it keeps newlines and tabs.
func Text(s string) string { return escape(s, "\n\t") }

// Markdown is like String for a cell or a paragraph of Markdown. It escapes what would be markup
// there; an underscore inside a word and a backslash before a letter are not.
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
		case strings.ContainsRune("\n\r\t", r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	return b.String()
}

// hidden returns a function that reports characters that are not displayed as themselves: controls,
// format characters including the overrides of direction, line separators, and unassigned
// characters. The joiners are part of words and emoji.
func hidden(keep string) func(rune) bool {
	return func(r rune) bool {
		return !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d' && !strings.ContainsRune(keep, r)
	}
}
