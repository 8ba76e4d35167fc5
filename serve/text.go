package serve

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/tokenize"
)

// answer is the text of the first gap of a canvas, or of the continuation of a prompt, while it is
// filled. It ends before a special token or one of the stops.
type answer struct {
	ids  []int
	mask int
	// Blocks of block positions begin at first; block exceeds all lengths if there is only one
	// block. edits reports whether revealed tokens may change until the next block begins. last is
	// the last position at which a token was drawn.
	edits              bool
	first, block, last int

	q     *common
	words *tokenize.Tokenizer
	piece func(int) string
	// begin is the first position of text, to the maximum end of the gap.
	begin, from, to int
	given           string // the text before the gap
	sent            int    // bytes of the text that were returned
	begun           bool   // whether a chunk was returned
	// text and reason are set at the end; tokens is the number of tokens in the text, and settled that
	// of tokens that no later call changes.
	text, reason    string
	tokens, settled int
	// likely holds the log-probabilities of positions, nil if they were not asked for; take
	// continues at next, whose text is at offset.
	likely       map[int]TokenLogprob
	next, offset int
}

// answers returns the answers of a job, before the first step.
func (x *exchange) answers(q *common, j *requests.Job) ([]*answer, error) {
	words, err := x.s.words()
	if err != nil {
		return nil, err
	}
	set, mask := j.Sampler.Settings(), x.s.Model.Facts().MaskID
	how, _ := catalog.Describe(set.Sampler)
	a := answer{
		ids: j.Tokens, mask: mask, edits: set.Correct != "" || how.Edits, block: cmp.Or(set.BlockLength, math.MaxInt),
		q: q, words: words, piece: words.Piece(), begin: max(j.Before, j.Prompt), from: slices.Index(j.Tokens, mask), to: math.MaxInt,
	}
	if set.Correct != "" { // A correction follows the last block, and may change all tokens.
		a.block = math.MaxInt
	}
	if a.from < 0 {
		a.from = len(j.Tokens)
	}
	a.first = samplers.ValueOr(set.PromptLength, a.from)
	a.last = a.first
	for l := len(j.Tokens); l > a.from && j.Tokens[l-1] != mask; l-- {
		a.to = l - 1
	}
	if q.most > 0 {
		a.to = min(a.to, a.from+q.most)
	}
	if q.whole {
		a.from, a.to = j.Prompt, math.MaxInt
	}
	a.given, err = words.Decode(j.Tokens[a.begin:a.from])
	if slices.Contains(j.Blanks, a.from) {
		a.given += " "
	}
	if a.next = a.from; err == nil && q.logprobs >= 0 {
		a.likely = make(map[int]TokenLogprob)
		if q.echo {
			a.next, err = a.begin, x.echo(&a, j.After)
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

// follow applies a step to the canvas.
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

// step applies a step. It returns the new part of the settled text, which no later call changes.
func (a *answer) step(step samplers.Step) (delta string, err error) {
	a.follow(step)
	end := min(len(a.ids), a.to)
	if a.edits && step.Result == nil {
		end = min(end, a.first+(a.last-a.first)/a.block*a.block)
	}
	n := a.from
	for n < end && a.ids[n] != a.mask {
		n++
	}
	if !a.q.whole {
		n = a.from + a.words.End(a.ids[a.from:n])
	}
	if n == a.from+a.settled && step.Result == nil {
		return "", nil
	}
	text, err := a.decode(n)
	if err != nil {
		return "", err
	}
	a.settled = n - a.from
	switch {
	case n < end && a.ids[n] != a.mask, a.q.whole && step.Result != nil:
		a.reason = "stop"
	case step.Result != nil || n == a.to:
		a.reason = "length"
	}
	for _, stop := range a.q.Stop {
		if i := strings.Index(text, stop); i >= 0 {
			text, a.reason = text[:i], "stop"
		}
	}
	if a.reason == "" {
		text = a.sure(text)
	}
	a.text = text
	if err := a.count(n); err != nil || len(text) <= a.sent {
		return "", err
	}
	delta, a.sent = text[a.sent:], len(text)
	return delta, nil
}

// count sets the number of tokens in the text: the fewest before n whose text begins with it.
func (a *answer) count(n int) error {
	a.tokens = n - a.from
	for ; a.tokens > 0; a.tokens-- {
		if text, err := a.decode(a.from + a.tokens - 1); err != nil || !strings.HasPrefix(text, a.text) {
			return err
		}
	}
	return nil
}

// decode returns the text of the positions before n, without the given text.
func (a *answer) decode(n int) (string, error) {
	if a.q.whole { // Special tokens pad its gaps.
		return a.words.Decode(slices.DeleteFunc(slices.Clone(a.ids[a.from:n]), a.words.Special))
	}
	whole, err := a.words.Decode(a.ids[a.begin:n])
	if rest, ok := strings.CutPrefix(whole, a.given); ok || err != nil {
		return rest, err
	}
	return a.words.Decode(a.ids[a.from:n]) // A character begins before the gap.
}

// sure drops the end of a text that the next token may change: a partial character, and a possible
// beginning of a stop.
func (a *answer) sure(text string) string {
	text = strings.TrimRight(text, string(utf8.RuneError))
	for n := range text {
		if slices.ContainsFunc(a.q.Stop, func(stop string) bool { return strings.HasPrefix(stop, text[n:]) }) {
			return text[:n]
		}
	}
	return text
}
