package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"mdmgen/serve/frame"
)

// CompletionRequest is OpenAI's, with the settings of samplers beside it.
type CompletionRequest struct {
	Model string `json:"model,omitempty"`
	// Prompt is a text, a list of ids, or a list of these.
	Prompt json.RawMessage `json:"prompt,omitempty"`
	Suffix *string         `json:"suffix,omitempty"`
	// MaxTokens is how many positions are sampled, 16 unless told.
	MaxTokens *int `json:"max_tokens,omitempty"`
	common
}

// common is what requests of OpenAI's routes share.
type common struct {
	// Stop is a text at which the answer ends, or a list of up to four.
	Stop          json.RawMessage `json:"stop,omitempty"`
	Stream        bool            `json:"stream,omitempty"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage,omitempty"`
	} `json:"stream_options,omitzero"`
	// Diffusing adds frames to a stream.
	Diffusing bool `json:"diffusing,omitempty"`
	// User is not read.
	User string `json:"user,omitempty"`
	line
}

// Completion is an answer, or a chunk of one.
type Completion struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"`
	Created int64              `json:"created"`
	Model   string             `json:"model"`
	Choices []CompletionChoice `json:"choices"`
	*Meta
	// Frames are what calls did, in the chunks of a stream that is diffusing.
	Frames []frame.Frame `json:"frames,omitempty"`
}

// CompletionChoice is a sample's text.
type CompletionChoice struct {
	Index        int     `json:"index"`
	Text         string  `json:"text"`
	FinishReason *string `json:"finish_reason"`
}

// defaultTokens is how many positions a completion samples: OpenAI's number.
const defaultTokens = 16

func (s *Server) completions(x *exchange, q *CompletionRequest) (*Completion, error) {
	if err := s.named(q.Model); err != nil {
		return nil, err
	}
	prompts, err := prompts(q.Prompt)
	if err != nil {
		return nil, err
	}
	fill := defaultTokens
	if q.MaxTokens != nil {
		fill = *q.MaxTokens
	}
	if fill < 1 {
		return nil, refuse(http.StatusBadRequest, "max_tokens", "max_tokens must be at least 1")
	}
	q.seeded()
	var jobs []Job
	for _, p := range prompts {
		j, err := s.completion(q, p, fill)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return s.complete(x, &q.common, jobs, fill, "text_completion")
}

// completion is the job of a prompt. A canvas of a network of fixed length has that length, whatever fill is.
func (s *Server) completion(q *CompletionRequest, prompt any, fill int) (Job, error) {
	fixed := s.Model.Facts().FixedLength
	more := map[string]any{"prefix": prompt}
	if ids, ok := prompt.([]*int); ok {
		if fixed {
			fill = max(s.Model.Facts().Length-len(ids), 1)
		}
		more = map[string]any{"ids": slices.Concat(ids, make([]*int, min(fill, s.Model.Facts().Length)))}
	}
	if q.Suffix != nil {
		more["suffix"] = *q.Suffix
	}
	if fixed {
		fill = 0
	}
	return q.job(s, fill, more)
}

// maxPrompts bounds the prompts of a request.
const maxPrompts = 128

// prompts reads a prompt: texts, and lists of ids.
func prompts(raw json.RawMessage) ([]any, error) {
	wrong := refuse(http.StatusBadRequest, "prompt", "prompt must be a text, a list of ids, or a list of at most "+strconv.Itoa(maxPrompts)+" of these")
	var text string
	var ids []*int
	var list []json.RawMessage
	switch {
	case len(raw) == 0 || json.Unmarshal(raw, &text) == nil:
		return []any{text}, nil
	case json.Unmarshal(raw, &list) != nil || len(list) == 0:
		return nil, wrong
	case json.Unmarshal(raw, &ids) == nil:
		if slices.Contains(ids, nil) {
			return nil, wrong
		}
		return []any{ids}, nil
	case len(list) > maxPrompts || list[0][0] == '[' && json.Unmarshal(list[0], &ids) != nil:
		return nil, wrong
	}
	var out []any
	for _, item := range list {
		one, err := prompts(item)
		if err != nil || len(one) != 1 {
			return nil, wrong
		}
		out = append(out, one[0])
	}
	return out, nil
}

// stops reads the texts at which an answer ends.
func stops(raw json.RawMessage) ([]string, error) {
	var one string
	var list []string
	if len(raw) == 0 || json.Unmarshal(raw, &list) == nil && len(list) <= maxStops && !slices.Contains(list, "") {
		return list, nil
	}
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}, nil
	}
	return nil, refuse(http.StatusBadRequest, "stop", fmt.Sprintf("stop must be a text, or a list of at most %d, none of them empty", maxStops))
}

const maxStops = 4

// complete fills canvases, each of which has one gap, and answers with its texts.
func (s *Server) complete(x *exchange, q *common, jobs []Job, most int, object string) (*Completion, error) {
	if s.Words == nil {
		return nil, refuse(http.StatusBadRequest, "", "the model has no tokenizer: use /v1/generate with ids")
	}
	stops, err := stops(q.Stop)
	if err != nil {
		return nil, err
	}
	var answers []*answer
	for i := range jobs {
		for range jobs[i].N {
			a, err := newAnswer(&jobs[i], s.Words, s.Model.Facts().MaskID, stops)
			if err != nil {
				return nil, err
			}
			a.most = most
			answers = append(answers, a)
		}
	}
	if len(answers) > maxSamples {
		return nil, refuse(http.StatusBadRequest, "n", fmt.Sprintf("%d samples: at most %d a request", len(answers), maxSamples))
	}
	out := Completion{ID: newID("cmpl-"), Object: object, Created: time.Now().Unix(), Model: s.Name, Choices: []CompletionChoice{}}
	all, to, frames, left := x.tally(jobs), &stream{x: x}, s.frames(), len(answers)
	err = x.fill(jobs, func(e event) error {
		all.step(e)
		a := answers[e.sample]
		delta, err := a.step(e.step)
		if err != nil {
			return err
		}
		ended := e.step.Result != nil
		if ended {
			left--
			all.meta.Usage.CompletionTokens += a.tokens
		}
		if !q.Stream {
			return nil
		}
		chunk := out
		choice := CompletionChoice{Index: e.sample, Text: delta}
		if q.Diffusing {
			chunk.Frames = frames.of(e)
		}
		if ended {
			choice.FinishReason = &a.reason
		}
		if left == 0 && !q.StreamOptions.IncludeUsage {
			meta := all.end()
			meta.Usage, chunk.Meta = nil, &meta
		}
		if delta == "" && !ended && chunk.Frames == nil {
			return nil
		}
		chunk.Choices = []CompletionChoice{choice}
		return to.send(chunk)
	}, func() error {
		if q.Stream {
			return to.alive()
		}
		return nil
	})
	meta := all.end()
	out.Meta = &meta
	if q.Stream {
		if err == nil && q.StreamOptions.IncludeUsage {
			err = to.send(out)
		}
		return nil, to.end(err)
	}
	for i, a := range answers {
		out.Choices = append(out.Choices, CompletionChoice{Index: i, Text: a.text, FinishReason: &a.reason})
	}
	return &out, err
}
