package serve

import (
	"math"
	"slices"
	"sync"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
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

// likely are the log-probabilities of an answer's tokens.
type likely struct {
	a     *answer
	piece func(int) string
	echo  bool
	// logP are those of positions, NaN where there is none; top the alternatives.
	logP []float64
	mu   sync.Mutex // of top, which the engine writes
	top  map[int][]draw.Scored
	// next is the position that take begins with, offset where its text does.
	next, offset int
}

// likely has log-probabilities kept of all answers, and with echo works out those of prompts.
func (c *completing) likely(jobs []Job) error {
	piece := c.x.s.Piece()
	number := 0
	for i := range jobs {
		j := &jobs[i]
		first := number
		var prompt *conditional
		if from := c.answers[number].from; c.q.echo && from > 0 {
			prompt = newConditional(c.x.s, j.Canvas, from, c.q.logprobs)
			if err := c.x.run(j.Canvas, prompt); err != nil {
				return err
			}
		}
		for range j.N {
			a := c.answers[number]
			a.likely = &likely{a: a, piece: piece, echo: c.q.echo, top: make(map[int][]draw.Scored), next: a.from}
			for range j.Canvas {
				a.likely.logP = append(a.likely.logP, math.NaN())
			}
			if prompt != nil {
				copy(a.likely.logP, prompt.logP)
				for l, top := range prompt.top {
					a.likely.top[l] = top
				}
			}
			if c.q.echo {
				a.likely.next = 0
			}
			number++
		}
		if c.q.logprobs > 0 {
			j.listed = func(index int) samplers.Method { return listing{j.Method, c.q.logprobs, c.answers[first+index].likely} }
		}
	}
	return nil
}

// step keeps the log-probabilities of a step.
func (k *likely) step(s samplers.Step) {
	if k == nil {
		return
	}
	for range s.Grown {
		k.logP = append(k.logP, math.NaN())
	}
	for i, l := range s.Positions {
		k.logP[l] = s.LogP[i]
	}
}

// take are the log-probabilities up to so many tokens of the answer that were not taken yet.
func (k *likely) take(tokens int, chat bool) *Logprobs {
	out := &Logprobs{Meaning: whenDrawn}
	if k.echo {
		out.Meaning = leftToRight
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for ; k.next < k.a.from+tokens; k.next++ {
		token := k.piece(k.a.ids[k.next])
		logP, top := k.logP[k.next], k.top[k.next]
		if chat {
			one := TokenLogprob{token, max(logP, floor), bytesOf(token), []TokenLogprob{}}
			for _, t := range top {
				text := k.piece(t.Token)
				one.TopLogprobs = append(one.TopLogprobs, TokenLogprob{text, max(t.LogP, floor), bytesOf(text), []TokenLogprob{}})
			}
			out.Content = append(out.Content, one)
			continue
		}
		out.Tokens, out.TextOffset = append(out.Tokens, token), append(out.TextOffset, k.offset)
		k.offset += len(token)
		var known *float64
		if !math.IsNaN(logP) {
			known = new(max(logP, floor))
		}
		out.TokenLogprobs = append(out.TokenLogprobs, known)
		var best map[string]float64
		for _, t := range slices.Backward(top) { // Of two tokens with one text the likelier stays.
			if best == nil {
				best = make(map[string]float64)
			}
			best[k.piece(t.Token)] = max(t.LogP, floor)
		}
		out.TopLogprobs = append(out.TopLogprobs, best)
	}
	return out
}

func bytesOf(text string) (out []int) {
	for _, b := range []byte(text) {
		out = append(out, int(b))
	}
	return out
}

// listing is a sampler whose calls list the most probable tokens, too.
type listing struct {
	*catalog.Sampler
	top int
	to  *likely
}

func (m listing) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	inner, err := m.Sampler.Start(c, d)
	return &lister{inner, m, nil}, err
}

type lister struct {
	samplers.Decoder
	of  listing
	ask *samplers.Ask
}

func (l *lister) Ask(a *samplers.Ask) bool {
	more := l.Decoder.Ask(a)
	if a.Head == samplers.HeadBest {
		a.Top = max(a.Top, l.of.top)
	}
	l.ask = a
	return more
}

func (l *lister) Take(r samplers.Rows, e *samplers.Edit) error {
	l.of.to.mu.Lock()
	for i, row := range l.ask.Rows {
		for j, position := range row.Positions {
			if top, err := mostProbable(r, i, j, l.of.top); err == nil && !row.Beside {
				l.of.to.top[position] = top
			}
		}
	}
	l.of.to.mu.Unlock()
	return l.Decoder.Take(r, e)
}

// mostProbable are the k most probable tokens of a row.
func mostProbable(r samplers.Rows, i, j, k int) ([]draw.Scored, error) {
	if r.Head() == samplers.HeadBest {
		b, err := r.Best(i, j)
		return slices.Clone(b.Top[:min(k, len(b.Top))]), err
	}
	b, err := r.Categorical().Best(r.Row(i, j), 0.5, k)
	return slices.Clone(b.Top), err
}

// conditional works out the probability of each of the first tokens of a canvas given those before it, all others
// masked: rows of as many canvases.
type conditional struct {
	ids       []int
	mask      int
	batch, k  int
	canvas    *samplers.Canvas
	next, end int
	logP      []float64
	top       map[int][]draw.Scored
}

// newConditional asks about positions up to end. A network that predicts a position from the one before says
// nothing of the first.
func newConditional(s *Server, ids []int, end, top int) *conditional {
	c := &conditional{ids: ids, mask: s.Model.Facts().MaskID, batch: max(s.Batch, 1), k: top, end: end, top: make(map[int][]draw.Scored)}
	if s.Model.Facts().Shift {
		c.next, c.logP = 1, []float64{math.NaN()}
	}
	return c
}

func (c *conditional) Start(canvas *samplers.Canvas, _ *draw.Numbers) (samplers.Decoder, error) {
	c.canvas = canvas
	return c, nil
}

// Ask asks about as many canvases as a call has rows, so that others have their turn.
func (c *conditional) Ask(a *samplers.Ask) bool {
	for l := c.next; l < min(c.next+c.batch, c.end); l++ {
		canvas := make([]int64, len(c.ids))
		for i := range canvas {
			if canvas[i] = int64(c.mask); i < l {
				canvas[i] = int64(c.ids[i])
			}
		}
		a.Rows = append(a.Rows, samplers.AskRow{Canvas: canvas, Positions: []int{l}, Theta: c.canvas.Theta(1 - float64(l)/float64(len(canvas)))})
	}
	return len(a.Rows) > 0
}

func (c *conditional) Take(r samplers.Rows, _ *samplers.Edit) error {
	for i := 0; c.next < c.end && i < c.batch; i++ {
		norm, err := r.LogSum(i, 0)
		if err != nil {
			return err
		}
		c.logP = append(c.logP, r.Row(i, 0).At(c.ids[c.next])-norm)
		if c.k > 0 {
			if c.top[c.next], err = mostProbable(r, i, 0, c.k); err != nil {
				return err
			}
		}
		c.next++
	}
	return nil
}
