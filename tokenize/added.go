package tokenize

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAdded is the maximum length of an added token in bytes: matching can take that many steps at
// each byte of the text.
const maxAdded = 1024

// An addedToken is an entry of the file's added_tokens.
type addedToken struct {
	id      int
	content string
	// pattern is the text to match and to decode to: the content, normalized if normalized is set.
	pattern string
	// singleWord drops matches that touch a word character; lstrip and rstrip swallow white space
	// before and after; normalized matches in normalized text.
	singleWord, lstrip, rstrip, normalized, special bool
}

// A matcher finds added tokens: the leftmost, and of those the longest.
type matcher struct {
	tokens []*addedToken // by pattern
	starts [256]bool     // the first bytes of patterns
}

func comparePatterns(a, b *addedToken) int { return strings.Compare(a.pattern, b.pattern) }

// longest returns the longest token whose pattern is a prefix of text, nil if there is none.
func (m *matcher) longest(text string) *addedToken {
	for m.starts[text[0]] {
		i, same := slices.BinarySearchFunc(m.tokens, &addedToken{pattern: text}, comparePatterns)
		if same {
			return m.tokens[i]
		}
		if i == 0 {
			return nil
		}
		// Patterns that are prefixes of the text are no later than this one, and no longer than
		// what it shares with the text.
		last, shared := m.tokens[i-1], 0
		for shared < min(len(text), len(last.pattern)) && text[shared] == last.pattern[shared] {
			shared++
		}
		if shared == len(last.pattern) {
			return last
		}
		if shared == 0 {
			return nil
		}
		text = text[:shared]
	}
	return nil
}

// cut goes through a text and calls token for each added token and plain for each non-empty stretch
// between them. A nil matcher finds nothing.
//
// The search continues after the pattern, not after the white space that rstrip swallows. The
// reference does the same, as tokens that begin with white space show.
func (m *matcher) cut(text string, token func(*addedToken), plain func(string)) {
	if text == "" {
		return
	}
	if m == nil || len(m.tokens) == 0 {
		plain(text)
		return
	}
	done := 0     // everything before has been passed on
	blankEnd := 0 // end of the last run of white space for rstrip
	for at := 0; at < len(text); {
		t := m.longest(text[at:])
		if t == nil {
			at++
			continue
		}
		start, end := at, at+len(t.pattern)
		stop := end
		at = end
		if t.singleWord && (endsWithWord(text[:start]) || startsWithWord(text[end:])) {
			continue
		}
		if t.lstrip {
			start = max(done, blankStart(text, min(done, start), start))
		}
		if t.rstrip {
			if stop > blankEnd {
				blankEnd = stop + blanks(text[stop:])
			}
			stop = blankEnd
		}
		if start >= stop {
			continue // rstrip of the token before swallowed all of it, and lstrip returns none
		}
		if done < start {
			plain(text[done:start])
		}
		token(t)
		done = stop
	}
	if done < len(text) {
		plain(text[done:])
	}
}

// blankStart returns the start of the white space at the end of text[from:to].
func blankStart(text string, from, to int) int {
	for to > from {
		r, n := utf8.DecodeLastRuneInString(text[from:to])
		if !unicode.IsSpace(r) {
			break
		}
		to -= n
	}
	return to
}

// blanks returns the length of the white space at the start of text.
func blanks(text string) int {
	for i, r := range text {
		if !unicode.IsSpace(r) {
			return i
		}
	}
	return len(text)
}

func startsWithWord(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && isWord(r)
}

func endsWithWord(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && isWord(r)
}

// isWord reports whether r matches \w of Unicode Technical Standard 18, annex C.
func isWord(r rune) bool {
	return isLetter(r) || isNumber(r) && !unicode.Is(unicode.No, r) ||
		unicode.In(r, unicode.M, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}
