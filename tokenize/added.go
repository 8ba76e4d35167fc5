package tokenize

import (
	"unicode"
	"unicode/utf8"
)

// maxAdded bounds the content of an added token in bytes: matching may cost as
// many steps at each byte of the text.
const maxAdded = 1024

// An addedToken is an entry of the file's added_tokens.
type addedToken struct {
	id      int
	content string
	// pattern is what is matched and decoded: the content, normalized where
	// normalized is set.
	pattern string
	// singleWord drops matches that touch a word character; lstrip and rstrip
	// swallow white space before and after; normalized means that the match is
	// made in normalized text.
	singleWord, lstrip, rstrip, normalized, special bool
}

// A matcher finds added tokens: leftmost, and of those the longest.
type matcher struct {
	nodes []trieNode
}

type trieNode struct {
	next  map[byte]int32
	token *addedToken
}

// match is an added token that was found in a text.
type match struct{ token *addedToken }

func newMatcher() *matcher { return &matcher{nodes: make([]trieNode, 1)} }

// add makes t's pattern stand for t. It returns the token that the pattern already
// stands for, if any.
func (m *matcher) add(t *addedToken) *addedToken {
	at := int32(0)
	for i := range len(t.pattern) {
		c := t.pattern[i]
		next, ok := m.nodes[at].next[c]
		if !ok {
			next = int32(len(m.nodes))
			if m.nodes[at].next == nil {
				m.nodes[at].next = make(map[byte]int32)
			}
			m.nodes[at].next[c] = next
			m.nodes = append(m.nodes, trieNode{})
		}
		at = next
	}
	if old := m.nodes[at].token; old != nil {
		return old
	}
	m.nodes[at].token = t
	return nil
}

// longest returns the longest token whose pattern starts text[at:], and its end.
func (m *matcher) longest(text string, at int) (*addedToken, int) {
	var found *addedToken
	node, end := int32(0), 0
	for i := at; i < len(text); i++ {
		next, ok := m.nodes[node].next[text[i]]
		if !ok {
			break
		}
		node = next
		if t := m.nodes[node].token; t != nil {
			found, end = t, i+1
		}
	}
	return found, end
}

// cut goes through a text and calls token for each added token and plain for
// each non-empty stretch between them. A nil matcher finds nothing.
//
// The search goes on behind the pattern, not behind the white space that rstrip
// swallows: so does the reference, and tokens that begin with white space show it.
func (m *matcher) cut(text string, token func(match), plain func(string)) {
	if text == "" {
		return
	}
	if m == nil || len(m.nodes) == 1 {
		plain(text)
		return
	}
	done := 0     // everything before has been given out
	blankEnd := 0 // end of the run of white space that rstrip looked at last
	for at := 0; at < len(text); {
		t, end := m.longest(text, at)
		if t == nil {
			at++
			continue
		}
		start, stop := at, end
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
		if done < start {
			plain(text[done:start])
		}
		token(match{t})
		done = stop
	}
	if done < len(text) {
		plain(text[done:])
	}
}

// blankStart returns where the white space that ends text[from:to] begins.
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

// blanks returns the length of the white space that starts text.
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

// isWord is \w of Unicode Technical Standard 18, annex C.
func isWord(r rune) bool {
	return isLetter(r) || isNumber(r) && !unicode.Is(unicode.No, r) ||
		unicode.In(r, unicode.M, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}
