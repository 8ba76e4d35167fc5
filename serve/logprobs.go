package serve

import (
	"cmp"
	"math"
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/samplers/draw"
)

// maxTop bounds the alternatives that are listed beside a token: OpenAI's number.
const maxTop = 20

// Logprobs are the log-probabilities of tokens, in nats: of sampled ones those that they were drawn with, of a prompt's
// those given the tokens before alone. Meaning says so. A completion has the first four lists, a chat Content.
type Logprobs struct {
	Meaning       string               `json:"meaning"`
	Tokens        []string             `json:"tokens,omitempty"`
	TokenLogprobs []*float64           `json:"token_logprobs,omitempty"`
	TopLogprobs   []map[string]float64 `json:"top_logprobs,omitempty"`
	TextOffset    []int                `json:"text_offset,omitempty"`
	Content       []TokenLogprob       `json:"content,omitempty"`
}

// TokenLogprob is a token of a chat.
type TokenLogprob struct {
	Token       string         `json:"token"`
	Logprob     float64        `json:"logprob"`
	Bytes       []int          `json:"bytes"`
	TopLogprobs []TokenLogprob `json:"top_logprobs"`
}

// What log-probabilities are.
const (
	whenDrawn   = "of each token when it was drawn, given what was visible then"
	leftToRight = whenDrawn + "; of the prompt's, given the tokens before it, all later ones masked: left-to-right conditionals, whose sum is not the likelihood of the diffusion model"
)

// floor stands for the logarithm of 0, which JSON cannot hold.
const floor = -9999

// likely are the log-probabilities of an answer's tokens, where they are asked for.
type likely struct {
	piece   func(int) string
	meaning string
	// logP are those of positions that have one, nil where nobody asked; top the alternatives.
	logP map[int]float64
	top  map[int][]draw.Scored
	// next is the position that take begins with, offset where its text does.
	next, offset int
}

// list has log-probabilities kept of an answer, and with echo works out those of the tokens given.
func (x *exchange) list(a *answer, q *common) error {
	a.likely = likely{piece: x.s.Piece(), meaning: whenDrawn, logP: make(map[int]float64), top: make(map[int][]draw.Scored), next: a.from}
	if !q.echo {
		return nil
	}
	a.meaning, a.next = leftToRight, 0
	e, free, err := x.evaluator(likelihood.Options{Blocks: true})
	if err != nil {
		return err
	}
	defer free()
	target := likelihood.Whole(slices.Clone(a.ids))
	for l := a.from; l < len(a.ids); l++ {
		target.IDs[l] = 0 // A target has a token where it is masked.
	}
	asks, tops := make([]likelihood.Ask, a.from), make([][]draw.Scored, a.from) // Rows are read on several goroutines.
	for l := range asks {
		asks[l] = likelihood.Ask{Target: &target, Masked: target.Free[l:], Lambda: 1 - float64(l)/float64(len(a.ids)), LogMu: make([]float64, 1)}
		if l > 0 || !e.Facts().Shift { // Else nothing predicts the first.
			asks[l].Wanted = target.Free[l : l+1]
		}
		if q.logprobs > 0 {
			asks[l].Whole = func(_ int, p []float64) { tops[l] = mostProbable(p, q.logprobs) }
		}
	}
	err = e.Eval(x.r.Context(), asks)
	for l, ask := range asks {
		if a.top[l] = tops[l]; ask.Wanted != nil {
			a.logP[l] = ask.LogMu[0]
		}
	}
	return err
}

// mostProbable are the k most probable tokens of a row; of equals the lower ids come first.
func mostProbable(p []float64, k int) (top []draw.Scored) {
	for id, x := range p {
		if x > 0 && (len(top) < k || x > top[k-1].LogP) {
			at, _ := slices.BinarySearchFunc(top, x, func(s draw.Scored, x float64) int { return cmp.Or(cmp.Compare(x, s.LogP), -1) })
			top = slices.Insert(top, at, draw.Scored{Token: id, LogP: x})[:min(len(top)+1, k)]
		}
	}
	for i := range top {
		top[i].LogP = math.Log(top[i].LogP)
	}
	return top
}

// take are the log-probabilities of the tokens of an answer that were not taken yet.
func (a *answer) take() *Logprobs {
	out := &Logprobs{Meaning: a.meaning}
	for ; a.next < a.from+a.tokens; a.next++ {
		logP, known := a.logP[a.next]
		token := a.token(a.ids[a.next], logP)
		for _, t := range a.top[a.next] {
			token.TopLogprobs = append(token.TopLogprobs, a.token(t.Token, t.LogP))
		}
		if a.chat {
			out.Content = append(out.Content, token)
			continue
		}
		var value *float64
		if known {
			value = &token.Logprob
		}
		var best map[string]float64
		if a.top[a.next] != nil {
			best = make(map[string]float64)
		}
		for _, t := range slices.Backward(token.TopLogprobs) { // Of two tokens with one text the likelier stays.
			best[t.Token] = t.Logprob
		}
		out.Tokens, out.TextOffset = append(out.Tokens, token.Token), append(out.TextOffset, a.offset)
		out.TokenLogprobs, out.TopLogprobs = append(out.TokenLogprobs, value), append(out.TopLogprobs, best)
		a.offset += len(token.Token)
	}
	return out
}

// token is a token as a chat has it.
func (a *answer) token(id int, logP float64) TokenLogprob {
	t := TokenLogprob{Token: a.piece(id), Logprob: max(logP, floor), TopLogprobs: []TokenLogprob{}}
	for _, b := range []byte(t.Token) {
		t.Bytes = append(t.Bytes, int(b))
	}
	return t
}
