package serve

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/serve/frame"
)

// common holds the fields shared by requests whose answers are texts.
type common struct {
	Model string `json:"model,omitempty"`
	// Stop lists texts at which the answer ends.
	Stop          list[string] `json:"stop,omitempty" jsonschema_description:"a text, or a list of at most 4, none of them empty"`
	Stream        bool         `json:"stream,omitempty"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage,omitempty"`
	} `json:"stream_options,omitzero"`
	// Diffusing adds frames to a stream: what each call did, even if no text became final.
	Diffusing bool `json:"diffusing,omitempty"`
	line      `json:"-"`
	// most is the maximum number of tokens in an answer, 0 for no limit, and named the request's name
	// for it, by default max_tokens. logprobs is the number of alternatives listed with each token, −1
	// for no log-probabilities. chat and echo determine the form of a choice, object the type of the
	// answer. whole reports whether the answer is a text with gaps, given parts included.
	most, logprobs    int
	chat, echo, whole bool
	named, object     string
	// part returns what a stream sends for a chunk, nil for the chunk.
	part func(*Completion) any
}

// said returns the text of a choice.
func (c *Choice) said() string {
	if m := cmp.Or(c.Message, c.Delta); m != nil {
		return m.Content
	}
	return *c.Text
}

// Completion is an answer, or a chunk of one.
type Completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []Choice `json:"choices"`
	*Meta
	// Frames are in the chunks of a stream with Diffusing.
	Frames []frame.Frame `json:"frames,omitempty"`
}

// Choice is a sample: it has a Text, in a chat a Message, and in a chunk of a chat a Delta.
type Choice struct {
	Index        int       `json:"index"`
	Text         *string   `json:"text,omitempty"`
	Message      *Message  `json:"message,omitempty"`
	Delta        *Message  `json:"delta,omitempty"`
	FinishReason *string   `json:"finish_reason"`
	Logprobs     *Logprobs `json:"logprobs,omitempty"`
}

// Message is a turn of a chat.
type Message struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content"`
}

// complete fills canvases with one gap each and returns their texts, or for a stream the final
// event, if any.
func (x *exchange) complete(q *common, jobs []requests.Job) (*Completion, error) {
	if len(q.Stop) > maxStops || slices.Contains(q.Stop, "") {
		return nil, refuse(http.StatusBadRequest, "stop", fmt.Sprintf("stop must be a text, or a list of at most %d, none of them empty", maxStops))
	}
	if err := x.begin(jobs); err != nil {
		return nil, err
	}
	x.stream = q.Stream
	out := Completion{ID: "cmpl-" + strings.ToLower(rand.Text()), Object: q.object, Created: x.began.Unix(), Model: x.s.Name, Choices: []Choice{}}
	if q.chat && q.Stream {
		out.Object += ".chunk"
	}
	var answers []*answer
	for i := range jobs {
		all, err := x.answers(q, &jobs[i])
		if err != nil {
			return nil, err
		}
		answers = append(answers, all...)
	}
	left, tokens := len(answers), 0
	err := x.fill(jobs, max(q.logprobs, 0), q.Diffusing, func(step samplers.Step, frames []frame.Frame) error {
		a := answers[step.Index]
		delta, err := a.step(step)
		if err != nil {
			return err
		}
		var ended error
		if a.reason != "" {
			ended = errEnded
			left--
			tokens += a.tokens
		}
		if !q.Stream || delta == "" && ended == nil && frames == nil {
			return ended
		}
		chunk := out
		chunk.Frames = frames
		if left == 0 && !q.StreamOptions.IncludeUsage {
			chunk.Meta = x.made(tokens)
			chunk.Meta.Usage = nil
		}
		chunk.Choices = []Choice{a.choice(int(step.Index), delta, !a.begun)}
		a.begun = true
		if ended == nil {
			chunk.Choices[0].FinishReason = nil
		}
		sent := any(chunk)
		if q.part != nil {
			sent = q.part(&chunk)
		}
		return cmp.Or(x.send(sent), ended)
	})
	out.Meta = x.made(tokens)
	switch {
	case q.Stream && !q.StreamOptions.IncludeUsage:
		return nil, err
	case !q.Stream:
		for i, a := range answers {
			out.Choices = append(out.Choices, a.choice(i, a.text, true))
		}
	}
	return &out, err
}

// choice returns the choice of a sample, in a stream since its previous choice; first reports
// whether it is the first.
func (a *answer) choice(i int, text string, first bool) Choice {
	out := Choice{Index: i, FinishReason: &a.reason}
	if a.q.logprobs >= 0 {
		out.Logprobs = a.take()
	}
	m := &Message{Content: text}
	if first {
		m.Role = "assistant"
	}
	switch {
	case a.q.chat && a.q.Stream:
		out.Delta = m
	case a.q.chat:
		out.Message = m
	default:
		if a.q.echo && first {
			text = a.given + text
		}
		out.Text = &text
	}
	return out
}

// maxStops is the maximum number of texts at which an answer ends.
const maxStops = 4

// list is decoded from a value or a list of values.
type list[T any] []T

func (l *list[T]) UnmarshalJSON(raw []byte) error {
	var one T
	if json.Unmarshal(raw, &one) == nil {
		*l = list[T]{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]T)(l))
}
