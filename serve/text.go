package serve

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"mdmgen/samplers"
	"mdmgen/tokenize"
)

// editors are the samplers that mask again, or change, what they have revealed.
var editors = []string{"remdm", "p2", "llada2"}

// settled is how many positions no later call changes.
func (a *answer) settled() int {
	n := slices.Index(a.ids, a.mask)
	if n < 0 {
		n = len(a.ids)
	}
	switch {
	case !a.edits:
		return n
	case a.block == 0 || a.last < a.first:
		return min(n, a.first)
	}
	return min(n, a.first+(a.last-a.first)/a.block*a.block)
}

// answer is the text of the first gap of a canvas, or of what follows a prompt, as it comes about: up to
// a special token or one of the stops.
type answer struct {
	ids  []int
	mask int
	// edits is whether what is revealed may change until the next block begins; blocks of so many positions
	// begin at first, and block is 0 where the whole canvas is one. Positions up to last hold or held a token
	// that was drawn.
	edits              bool
	first, block, last int

	words    *tokenize.Tokenizer
	from, to int // to is where the gap ends, −1 where nothing is given behind it
	most     int // tokens, 0 for all
	chat     bool
	stops    []string
	given    string // the text before, of a completion
	sent     int    // bytes of the text that were handed out
	// text and reason are what there is at the end; tokens is how many make it.
	text, reason string
	tokens       int
	likely
}

func (x *exchange) newAnswer(q *common, j *Job, stops []string) (a *answer, err error) {
	words, err := x.s.words()
	if err != nil {
		return nil, err
	}
	set, mask := j.Method.Settings(), x.s.Model.Facts().MaskID
	a = &answer{
		ids: slices.Clone(j.Canvas), mask: mask, edits: set.Correct != "" || slices.Contains(editors, set.Sampler), block: set.BlockLength, last: -1,
		words: words, from: slices.Index(j.Canvas, mask), chat: q.chat, stops: stops, to: -1, most: q.most,
	}
	if a.from < 0 {
		a.from = len(j.Canvas)
	}
	if a.first = a.from; set.PromptLength != nil {
		a.first = *set.PromptLength
	}
	for l := len(j.Canvas); l > a.from && j.Canvas[l-1] != mask; l-- {
		a.to = l - 1
	}
	if !q.chat {
		if a.given, err = words.Decode(j.Canvas[:a.from]); err != nil {
			return nil, err
		}
	}
	if q.logprobs >= 0 {
		err = x.list(a, q)
	}
	return a, err
}

// clone is an answer for another sample, before the first step.
func (a *answer) clone() *answer {
	c := *a
	c.ids = slices.Clone(a.ids)
	c.logP, c.top = maps.Clone(a.logP), maps.Clone(a.top)
	return &c
}

// step follows a step, and returns what it adds to the text that is settled.
func (a *answer) step(step samplers.Step) (delta string, err error) {
	before := a.settled()
	for range step.Grown {
		a.ids = append(a.ids, a.mask)
	}
	for i, l := range step.Positions {
		a.ids[l], a.last = step.Tokens[i], max(a.last, l)
		if a.logP != nil {
			a.logP[l] = step.LogP[i]
		}
		if step.Top != nil {
			a.top[l] = step.Top[i]
		}
	}
	for _, l := range step.Masked {
		a.ids[l] = a.mask
	}
	if r := step.Result; r != nil {
		a.ids = r.IDs
	}
	ended := step.Result != nil
	n := a.settled()
	if ended {
		n = len(a.ids)
	}
	if n == before && !ended || a.reason != "" {
		return "", nil
	}
	if a.to >= 0 {
		n = min(n, a.to)
	}
	if a.most > 0 {
		n = min(n, a.from+a.most)
	}
	special := a.from
	for special < n && a.ids[special] != a.mask && !a.words.Special(a.ids[special]) {
		special++
	}
	text, err := a.decode(special)
	if err != nil {
		return "", err
	}
	switch {
	case special < n && a.ids[special] != a.mask:
		a.reason = "stop"
	case ended || special == a.from+a.most:
		a.reason = "length"
	}
	for _, stop := range a.stops {
		if i := strings.Index(text, stop); i >= 0 {
			text, a.reason = text[:i], "stop"
		}
	}
	a.text, a.tokens = text, special-a.from
	if a.reason == "" {
		text = a.sure(text)
	}
	if len(text) <= a.sent {
		return "", nil
	}
	delta, a.sent = text[a.sent:], len(text)
	return delta, nil
}

// decode is the text of the positions before n: what they add to the given text.
func (a *answer) decode(n int) (string, error) {
	if a.chat {
		return a.words.Decode(a.ids[a.from:n])
	}
	whole, err := a.words.Decode(a.ids[:n])
	if rest, ok := strings.CutPrefix(whole, a.given); ok || err != nil {
		return rest, err
	}
	return a.words.Decode(a.ids[a.from:n]) // A character that begins before them.
}

// sure leaves out the end of a text that the next token may change: a part of a character, and what may
// be the beginning of a stop.
func (a *answer) sure(text string) string {
	text = strings.TrimRight(text, string(utf8.RuneError))
	keep := len(text)
	for _, stop := range a.stops {
		for n := min(len(stop), len(text)); n > 0; n-- {
			if strings.HasSuffix(text, stop[:n]) {
				keep = min(keep, len(text)-n)
				break
			}
		}
	}
	return text[:keep]
}
