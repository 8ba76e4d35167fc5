package serve

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/tokenize"
)

// answer is the text of the first gap of a canvas, or of what follows a prompt, as it comes about: up to
// a special token or one of the stops.
type answer struct {
	ids  []int
	mask int
	// Blocks of so many positions begin at first; block is more than all where the canvas is one. edits is whether what
	// is revealed may change until the next block begins. Positions up to last hold or held a token that was drawn.
	edits              bool
	first, block, last int

	q        *common
	words    *tokenize.Tokenizer
	piece    func(int) string
	from, to int    // to is where the gap ends at most
	given    string // the text before, of a completion
	sent     int    // bytes of the text that were handed out
	begun    bool   // whether a chunk was
	// text and reason are what there is at the end; tokens is how many make it.
	text, reason string
	tokens       int
	// likely has the log-probabilities of positions that have one, nil where nobody asked; take goes on at next, whose
	// text is at offset.
	likely       map[int]TokenLogprob
	next, offset int
}

// answers are those of a job, before the first step.
func (x *exchange) answers(q *common, j *Job) ([]*answer, error) {
	words, err := x.s.words()
	if err != nil {
		return nil, err
	}
	set, mask := j.Method.Settings(), x.s.Model.Facts().MaskID
	how, _ := catalog.Describe(set.Sampler)
	a := answer{
		ids: j.Canvas, mask: mask, edits: set.Correct != "" || how.Edits, block: cmp.Or(set.BlockLength, math.MaxInt),
		q: q, words: words, piece: x.s.Piece(), from: slices.Index(j.Canvas, mask), to: math.MaxInt,
	}
	if set.Correct != "" { // It comes behind the last block, and changes all.
		a.block = math.MaxInt
	}
	if a.from < 0 {
		a.from = len(j.Canvas)
	}
	a.first = samplers.ValueOr(set.PromptLength, a.from)
	a.last = a.first
	for l := len(j.Canvas); l > a.from && j.Canvas[l-1] != mask; l-- {
		a.to = l - 1
	}
	if q.most > 0 {
		a.to = min(a.to, a.from+q.most)
	}
	if !q.chat {
		a.given, err = words.Decode(j.Canvas[:a.from])
	}
	if a.next = a.from; err == nil && q.logprobs >= 0 {
		a.likely = make(map[int]TokenLogprob)
		if q.echo {
			a.next, err = 0, x.echo(&a)
		}
	}
	all := make([]*answer, j.N)
	for i := range all {
		own := a
		own.ids, own.likely = slices.Clone(a.ids), maps.Clone(a.likely)
		all[i] = &own
	}
	return all, err
}

// follow has what a step did to the canvas.
func (a *answer) follow(step samplers.Step) {
	a.ids = append(a.ids, slices.Repeat([]int{a.mask}, step.Grown)...)
	for i, l := range step.Positions {
		a.ids[l], a.last = step.Tokens[i], max(a.last, l)
		if a.likely == nil {
			continue
		}
		var top []draw.Scored
		if step.Top != nil {
			top = step.Top[i]
		}
		a.likely[l] = a.token(step.Tokens[i], step.LogP[i], top)
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
	for n < end && a.ids[n] != a.mask {
		n++
	}
	n = a.from + a.words.End(a.ids[a.from:n])
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
	for _, stop := range a.q.Stop {
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
	if a.q.chat {
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
	for n := range text {
		if slices.ContainsFunc(a.q.Stop, func(stop string) bool { return strings.HasPrefix(stop, text[n:]) }) {
			return text[:n]
		}
	}
	return text
}
