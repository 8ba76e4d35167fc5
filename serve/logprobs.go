package serve

import (
	"math"
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// maxTop is the maximum number of alternatives listed with a token, the same as OpenAI's.
const maxTop = 20

// Logprobs holds the log-probabilities of tokens, in nats: of sampled tokens those with which they
// were drawn, of a prompt's tokens those given only the preceding tokens. Meaning describes them. A
// completion has the first four lists, a chat Content.
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

// The meanings of log-probabilities.
const (
	whenDrawn   = "of each token when it was drawn, given what was visible then"
	leftToRight = whenDrawn + "; of the prompt's, given the tokens before it: by causal rows if the network has them, else with all later ones masked, left-to-right conditionals, whose sum is not the likelihood of the diffusion model"
)

// floor replaces the logarithm of 0, which JSON cannot represent.
const floor = -9999

// echo computes the log-probabilities of the given tokens of an answer; the last tokens, after in
// number, are not masked.
func (x *exchange) echo(a *answer, after int) error {
	e, free, err := x.evaluator(likelihood.Options{Blocks: true})
	if err != nil {
		return err
	}
	defer free()
	target := likelihood.Whole(slices.Clone(a.ids))
	target.Free = target.Free[:len(a.ids)-after]
	clear(target.IDs[a.from:len(target.Free)]) // A target has a token at each masked position.
	from, together := a.begin, 1               // the first token that a row predicts, and how many those of one canvas do
	if e.Facts().NeedsFirst() {
		from = max(from, min(1, a.from))
	}
	if e.Facts().Causal {
		together, target.Block = 128, samplers.Span{From: len(a.ids), To: len(a.ids)} // 128 rows fit into memory.
	}
	var asks []likelihood.Ask
	logMu, tops := make([]float64, a.from), make([][]draw.Scored, a.from) // Rows are read by several goroutines.
	for at := range slices.Chunk(target.Free[from:a.from], together) {
		l := at[0]
		ask := likelihood.Ask{Target: &target, Masked: target.Free[l:], Wanted: at, Lambda: 1 - float64(l)/float64(len(a.ids)), LogMu: logMu[l:]}
		if e.Facts().Causal {
			ask.Masked = nil
		}
		if a.q.logprobs > 0 {
			ask.Whole = func(j int, p []float64) { tops[l+j] = mostProbable(p, a.q.logprobs) }
		}
		asks = append(asks, ask)
	}
	err = e.Eval(x.r.Context(), asks)
	for l := from; l < a.from; l++ {
		a.likely[l] = a.token(a.ids[l], logMu[l], tops[l])
	}
	return err
}

// mostProbable returns the k most probable tokens of a row; among equals, lower ids come first.
func mostProbable(p []float64, k int) (top []draw.Scored) {
	for id, x := range p {
		if x > 0 {
			top = draw.Among(top, draw.Scored{Token: id, LogP: x}, k) // Two may have one logarithm, in float64.
		}
	}
	for i := range top {
		top[i].LogP = math.Log(top[i].LogP)
	}
	return top
}

// take returns the log-probabilities of the tokens since the last call.
func (a *answer) take() *Logprobs {
	out := &Logprobs{Meaning: whenDrawn}
	if a.q.echo {
		out.Meaning = leftToRight
	}
	for ; a.next < a.from+a.tokens; a.next++ {
		token, known := a.likely[a.next]
		if a.q.chat {
			if known {
				out.Content = append(out.Content, token)
			}
			continue
		}
		value, best := &token.Logprob, map[string]float64(nil)
		if !known {
			token.Token, value = a.piece(a.ids[a.next]), nil
		}
		if len(token.TopLogprobs) > 0 {
			best = make(map[string]float64)
		}
		for _, t := range slices.Backward(token.TopLogprobs) { // Of two tokens with the same text, keep the likelier.
			best[t.Token] = t.Logprob
		}
		out.Tokens, out.TextOffset = append(out.Tokens, token.Token), append(out.TextOffset, a.offset)
		out.TokenLogprobs, out.TopLogprobs = append(out.TokenLogprobs, value), append(out.TopLogprobs, best)
		a.offset += len(token.Token)
	}
	return out
}

// token returns a token with its alternatives.
func (a *answer) token(id int, logP float64, top []draw.Scored) TokenLogprob {
	t := TokenLogprob{Token: a.piece(id), Logprob: max(logP, floor), TopLogprobs: []TokenLogprob{}}
	for _, b := range []byte(t.Token) {
		t.Bytes = append(t.Bytes, int(b))
	}
	for _, other := range top {
		t.TopLogprobs = append(t.TopLogprobs, a.token(other.Token, other.LogP, nil))
	}
	return t
}
