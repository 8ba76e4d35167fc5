package tokenize

import (
	"fmt"
	"slices"
)

// readAdded reads added_tokens. The reference library numbers them itself: a token of the
// vocabulary keeps its id, others follow in the order of the file. A file with other numbers would
// have different ids there and here, so it is rejected.
func readAdded(root section, v vocabulary) []addedToken {
	if _, ok := root.Fields["added_tokens"]; !ok || root.failed() {
		return nil
	}
	var out []addedToken
	last := -1
	contents := make(map[string]bool)
	for _, s := range root.list("added_tokens") {
		a := addedToken{
			id:         s.number("id"),
			content:    s.text("content"),
			singleWord: s.flag("single_word"),
			lstrip:     s.flag("lstrip"),
			rstrip:     s.flag("rstrip"),
			normalized: s.flag("normalized"),
			special:    s.flag("special"),
		}
		if s.failed() {
			return nil
		}
		if a.content == "" || len(a.content) > maxAdded {
			s.fail("content", "%d bytes: 1 to %d are read", len(a.content), maxAdded)
			return nil
		}
		if contents[a.content] {
			s.fail("content", "%.80q is listed twice: list each token once", a.content)
			return nil
		}
		contents[a.content] = true
		id, ok := v.ids[a.content]
		if !ok {
			id = max(len(v.ids), last+1)
			if id < v.size && v.used[id] {
				s.fail("id", "%d is taken by %.80q: number the vocabulary without gaps", id, v.tokens[id])
				return nil
			}
		}
		if a.id != id {
			s.fail("id", "%d for %.80q: the tokenizers library gives it %d: number added tokens in order after the vocabulary", a.id, a.content, id)
			return nil
		}
		last = max(last, id)
		out = append(out, a)
	}
	return out
}

// matchers returns the matchers of added tokens in raw and in normalized text, and sets the tokens'
// patterns.
func matchers(root section, added []addedToken, normalize func(string) string) (raw, normal *matcher) {
	raw, normal = new(matcher), new(matcher)
	seen := map[*matcher]map[string]*addedToken{raw: {}, normal: {}}
	for i := range added {
		a := &added[i]
		m := raw
		a.pattern = a.content
		if a.normalized {
			m = normal
			if normalize != nil {
				a.pattern = normalize(a.content)
			}
		}
		path := fmt.Sprintf("added_tokens[%d]", i)
		if a.pattern == "" || len(a.pattern) > 4*maxAdded {
			root.fail(path, "%.80q normalizes to %d bytes: 1 to %d are read", a.content, len(a.pattern), 4*maxAdded)
			return
		}
		old := seen[m][a.pattern]
		seen[m][a.pattern] = a
		m.tokens, m.starts[a.pattern[0]] = append(m.tokens, a), true
		if old != nil {
			root.fail(path, "%.80q and %.80q are the same in normalized text: set normalized to false", old.content, a.content)
			return
		}
	}
	slices.SortFunc(raw.tokens, comparePatterns)
	slices.SortFunc(normal.tokens, comparePatterns)
	return raw, normal
}
