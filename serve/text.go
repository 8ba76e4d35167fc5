package serve

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"mdmgen/samplers"
	"mdmgen/tokenize"
)

// editors are the samplers that mask again, or change, what they have revealed.
var editors = []string{"remdm", "p2", "llada2"}

// answer is the text of the first gap of a canvas, or of what follows a prompt, as it comes about: up to
// a special token or one of the stops.
type answer struct {
	ids  []int
	mask int
	// Blocks of so many positions begin at first; block is more than all where the canvas is one. edits is whether what
	// is revealed may change until the next block begins. Positions up to last hold or held a token that was drawn.
	edits              bool
	first, block, last int

	words    *tokenize.Tokenizer
	from, to int // to is where the gap ends at most
	chat     bool
	stops    []string
	given    string // the text before, of a completion
	sent     int    // bytes of the text that were handed out
	// text and reason are what there is at the end; tokens is how many make it.
	text, reason string
	tokens       int
	likely
}

func (x *exchange) newAnswer(q *common, j *Job) (a *answer, err error) {
	words, err := x.s.words()
	if err != nil {
		return nil, err
	}
	set, mask := j.Method.Settings(), x.s.Model.Facts().MaskID
	a = &answer{
		ids: slices.Clone(j.Canvas), mask: mask, edits: set.Correct != "" || slices.Contains(editors, set.Sampler), block: cmp.Or(set.BlockLength, math.MaxInt),
		words: words, from: slices.Index(j.Canvas, mask), chat: q.chat, stops: q.Stop, to: math.MaxInt,
	}
	if a.from < 0 {
		a.from = len(j.Canvas)
	}
	if a.first = a.from; set.PromptLength != nil {
		a.first = *set.PromptLength
	}
	a.last = a.first
	for l := len(j.Canvas); l > a.from && j.Canvas[l-1] != mask; l-- {
		a.to = l - 1
	}
	if q.most > 0 {
		a.to = min(a.to, a.from+q.most)
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

// follow has what a step did to the canvas.
func (a *answer) follow(step samplers.Step) {
	a.ids = append(a.ids, slices.Repeat([]int{a.mask}, step.Grown)...)
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
	if step.Result != nil {
		a.ids = step.Result.IDs
	}
}

// step follows a step, and returns what it adds to the text that is settled: that of positions which no later call changes.
func (a *answer) step(step samplers.Step) (delta string, err error) {
	a.follow(step)
	if a.reason != "" {
		return "", nil
	}
	end := min(len(a.ids), a.to)
	if a.edits && step.Result == nil {
		end = min(end, a.first+(a.last-a.first)/a.block*a.block)
	}
	n := a.from
	for n < end && a.ids[n] != a.mask && !a.words.Special(a.ids[n]) {
		n++
	}
	if n == a.from+a.tokens && step.Result == nil {
		return "", nil
	}
	text, err := a.decode(n)
	if err != nil {
		return "", err
	}
	switch {
	case n < end && a.ids[n] != a.mask:
		a.reason = "stop"
	case step.Result != nil || n == a.to:
		a.reason = "length"
	}
	for _, stop := range a.stops {
		if i := strings.Index(text, stop); i >= 0 {
			text, a.reason = text[:i], "stop"
		}
	}
	a.text, a.tokens = text, n-a.from
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
