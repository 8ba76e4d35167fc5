package serve

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"mdmgen/serve/frame"
)

// common is what requests share whose answers are texts.
type common struct {
	Model string `json:"model,omitempty"`
	// Stop are texts at which the answer ends.
	Stop          list[string] `json:"stop,omitempty" jsonschema_description:"a text, or a list of at most 4, none of them empty"`
	Stream        bool         `json:"stream,omitempty"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage,omitempty"`
	} `json:"stream_options,omitzero"`
	// Diffusing adds frames to a stream: what each call did, also where no text is final.
	Diffusing bool `json:"diffusing,omitempty"`
	line
	// most is how many tokens an answer may have, 0 for all; logprobs how many alternatives are listed beside each, −1 for
	// no log-probabilities; chat and echo are how a choice is written.
	most, logprobs int
	chat, echo     bool
}

// Completion is an answer, or a chunk of one.
type Completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []Choice `json:"choices"`
	*Meta
	// Frames are in the chunks of a stream that is diffusing.
	Frames []frame.Frame `json:"frames,omitempty"`
}

// Choice is a sample: its Text, of a chat its Message, of a chunk of one its Delta.
type Choice struct {
	Index        int       `json:"index"`
	Text         *string   `json:"text,omitempty"`
	Message      *Message  `json:"message,omitempty"`
	Delta        *Message  `json:"delta,omitempty"`
	FinishReason *string   `json:"finish_reason"`
	Logprobs     *Logprobs `json:"logprobs,omitempty"`
}

// Message is the turn of a chat.
type Message struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content"`
}

// completing is a request whose answers are texts.
type completing struct {
	x       *exchange
	q       *common
	answers []*answer
	left    int // samples that are not finished
	tokens  int // of those that are
	blank   Completion
}

// complete fills canvases, each of which has one gap, and returns their texts, or nil where they were streamed.
func (x *exchange) complete(q *common, jobs []Job) (*Completion, error) {
	if len(q.Stop) > maxStops || slices.Contains(q.Stop, "") {
		return nil, refuse(http.StatusBadRequest, "stop", fmt.Sprintf("stop must be a text, or a list of at most %d, none of them empty", maxStops))
	}
	if err := x.begin(jobs); err != nil {
		return nil, err
	}
	x.stream = q.Stream
	c := completing{x: x, q: q, blank: Completion{ID: "cmpl-" + strings.ToLower(rand.Text()), Object: "text_completion", Created: x.began.Unix(), Model: x.s.Name, Choices: []Choice{}}}
	if q.chat {
		c.blank.Object = "chat.completion"
		if q.Stream {
			c.blank.Object += ".chunk"
		}
	}
	for i := range jobs {
		jobs[i].top = max(q.logprobs, 0)
		blank, err := x.newAnswer(q, &jobs[i])
		if err != nil {
			return nil, err
		}
		for range jobs[i].N {
			c.answers = append(c.answers, blank.clone())
		}
	}
	c.left = len(c.answers)
	err := x.fill(jobs, q.Diffusing, c.step)
	c.blank.Meta = x.made(c.tokens)
	switch {
	case q.Stream && !q.StreamOptions.IncludeUsage:
		return nil, err
	case !q.Stream:
		for i, a := range c.answers {
			c.blank.Choices = append(c.blank.Choices, c.choice(i, a.text, false))
		}
	}
	return &c.blank, err
}

// step follows a step, and streams what it settles.
func (c *completing) step(e event) error {
	a := c.answers[e.Index]
	first := a.sent == 0
	delta, err := a.step(e.Step)
	if err != nil {
		return err
	}
	ended := e.Result != nil
	if ended {
		c.left--
		c.tokens += a.tokens
	}
	if !c.q.Stream || delta == "" && !ended && e.frames == nil {
		return nil
	}
	chunk := c.blank
	chunk.Frames = e.frames
	if c.left == 0 && !c.q.StreamOptions.IncludeUsage {
		chunk.Meta = c.x.made(c.tokens)
		chunk.Meta.Usage = nil
	}
	chunk.Choices = []Choice{c.choice(int(e.Index), delta, first && delta != "")}
	if !ended {
		chunk.Choices[0].FinishReason = nil
	}
	return c.x.send(chunk)
}

// choice is what there is to say of a sample, in a stream since the choice before; first is whether nothing was said.
func (c *completing) choice(i int, text string, first bool) Choice {
	a := c.answers[i]
	out := Choice{Index: i, FinishReason: &a.reason}
	if c.q.logprobs >= 0 {
		out.Logprobs = a.take()
	}
	switch {
	case !c.q.chat:
		if c.q.echo && (first || !c.q.Stream) {
			text = a.given + text
		}
		out.Text = &text
	case c.q.Stream:
		out.Delta = &Message{Content: text}
		if first {
			out.Delta.Role = "assistant"
		}
	default:
		out.Message = &Message{"assistant", text}
	}
	return out
}

// maxStops bounds the texts at which an answer ends.
const maxStops = 4

// list is read from a value or a list of them.
type list[T any] []T

func (l *list[T]) UnmarshalJSON(raw []byte) error {
	var one T
	if json.Unmarshal(raw, &one) == nil {
		*l = list[T]{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]T)(l))
}
