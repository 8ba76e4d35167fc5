package tokenize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The supported Split expressions. They are compared as strings; any other expression is rejected.
const (
	// GPT-2's, which the ByteLevel pre-tokenizer applies with use_regex.
	exprGPT2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	// LLaMA-3's: numbers in groups of three.
	exprLlama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	// Qwen2.5's and Dream's: numbers digit by digit.
	exprQwen = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	// Bailing's and LLaDA's: possessive quantifiers, which produce the same splits as Qwen2.5's.
	exprBailing = `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`
	// The same with groups of three, as in tiktoken's cl100k_base.
	exprCL100K = `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`
)

// scanners maps each expression to a function that returns the length in bytes of its first match
// in a non-empty string. All expressions match at every position.
var scanners = map[string]func(string) int{
	exprGPT2:    scanGPT2,
	exprLlama3:  func(s string) int { return scanCL100K(s, 3) },
	exprQwen:    func(s string) int { return scanCL100K(s, 1) },
	exprBailing: func(s string) int { return scanCL100K(s, 1) },
	exprCL100K:  func(s string) int { return scanCL100K(s, 3) },
}

// splitBy returns the splitter of a scanner.
func splitBy(scan func(string) int) splitter {
	return func(text string, more bool, emit func(string)) int {
		at := 0
		for at < len(text) {
			n := scan(text[at:])
			if more && !settled(text[at:], n) {
				break
			}
			emit(text[at : at+n])
			at += n
		}
		return at
	}
}

// settled reports whether a match of n bytes at the start of s stays the same, whatever text
// follows s. After its match a scanner looks at
//
//   - one character, to see that a run of letters, numbers, newlines or other
//     characters ends, which takes at most four bytes;
//   - if the match begins with an apostrophe, up to three bytes that could make it a
//     contraction;
//   - if the match is white space, the rest of the white space and one character after it:
//     \s+(?!\S) and \s*[\r\n]+ depend on where it ends.
//
// All of that is in s if four bytes follow the match and the white space after it. The scanner of
// an expression that cuts nothing matches all of s and is never settled.
func settled(s string, n int) bool {
	n += blanks(s[n:])
	return len(s)-n >= utf8.UTFMax
}

// class is a class of characters that the expressions distinguish.
type class uint8

const (
	other   class = iota // [^\s\p{L}\p{N}]
	letter               // \p{L}
	number               // \p{N}
	newline              // [\r\n]
	space                // \s without [\r\n]
)

// ascii holds the classes of the first 128 characters.
var ascii = func() (a [utf8.RuneSelf]class) {
	for r := range a {
		a[r] = classOf(rune(r))
	}
	return a
}()

func classOf(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return newline
	case unicode.IsSpace(r):
		return space
	case isLetter(r):
		return letter
	case isNumber(r):
		return number
	}
	return other
}

// first returns the class and length of the first character; length 0 at the end.
func first(s string) (class, int) {
	if s == "" {
		return other, 0
	}
	if s[0] < utf8.RuneSelf {
		return ascii[s[0]], 1
	}
	r, n := utf8.DecodeRuneInString(s)
	return classOf(r), n
}

// run returns the length of the run of characters of class c at the start of s.
func run(s string, c class) int {
	i := 0
	for {
		k, n := first(s[i:])
		if n == 0 || k != c {
			return i
		}
		i += n
	}
}

// scanGPT2 matches [exprGPT2].
func scanGPT2(s string) int {
	if s[0] == '\'' {
		for _, suffix := range []string{"s", "t", "re", "ve", "m", "ll", "d"} {
			if strings.HasPrefix(s[1:], suffix) {
				return 1 + len(suffix)
			}
		}
	}
	lead := 0
	if s[0] == ' ' {
		lead = 1
	}
	if c, n := first(s[lead:]); n > 0 && (c == letter || c == number || c == other) {
		return lead + n + run(s[lead+n:], c)
	}
	return blankRun(s, false)
}

// scanCL100K matches the other expressions, with numbers in groups of digits.
func scanCL100K(s string, digits int) int {
	if s[0] == '\'' {
		if n := contraction(s[1:]); n > 0 {
			return 1 + n
		}
	}
	c, n := first(s)
	switch c {
	case letter:
		return n + run(s[n:], letter)
	case number:
		for range digits - 1 {
			k, m := first(s[n:])
			if m == 0 || k != number {
				break
			}
			n += m
		}
		return n
	case newline:
		return blankRun(s, true)
	}
	// One character that is not a newline, letter or number may precede letters, and a space may
	// precede other characters.
	if k := run(s[n:], letter); k > 0 {
		return n + k
	}
	lead := 0
	if s[0] == ' ' {
		lead = 1
	}
	if k := run(s[lead:], other); k > 0 {
		end := lead + k
		return end + run(s[end:], newline)
	}
	return blankRun(s, true)
}

// contraction returns the length of (?i:s|t|re|ve|m|ll|d) at the start of s. The
// long s, U+017F, folds to s.
func contraction(s string) int {
	if strings.HasPrefix(s, "ſ") {
		return len("ſ")
	}
	if s == "" {
		return 0
	}
	switch s[0] | 0x20 {
	case 's', 't', 'm', 'd':
		return 1
	}
	if len(s) > 1 {
		switch string([]byte{s[0] | 0x20, s[1] | 0x20}) {
		case "re", "ve", "ll":
			return 2
		}
	}
	return 0
}

// blankRun matches \s+(?!\S)|\s+ and, if lines is set, \s*[\r\n]+ before them: a run of white space
// up to its last newline, else all of it at the end of the text, else all but its last character,
// else that one character.
func blankRun(s string, lines bool) int {
	end, last, cut := 0, 0, 0 // end of the run; start of its last character; end of its last newline
	for {
		c, n := first(s[end:])
		if n == 0 || c != space && c != newline {
			break
		}
		last = end
		end += n
		if c == newline {
			cut = end
		}
	}
	switch {
	case lines && cut > 0:
		return cut
	case end == len(s) || last == 0:
		return end
	}
	return last
}
