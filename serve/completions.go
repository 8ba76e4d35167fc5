package serve

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// CompletionRequest is OpenAI's, with the settings of samplers beside it.
type CompletionRequest struct {
	// Prompt is a text, a list of ids, or a list of these.
	Prompt json.RawMessage `json:"prompt,omitempty"`
	Suffix *string         `json:"suffix,omitempty"`
	// MaxTokens is how many positions are sampled, 16 unless told.
	MaxTokens *int `json:"max_tokens,omitempty"`
	// Logprobs is how many alternatives are listed beside each token, with log-probabilities in nats.
	Logprobs *int `json:"logprobs,omitempty"`
	// Echo has the answer begin with the prompt, and with Logprobs its tokens, each given those before it alone.
	Echo bool `json:"echo,omitempty"`
	common
}

// defaultTokens is how many positions a completion samples: OpenAI's number.
const defaultTokens = 16

func (s *Server) completions(x *exchange, q *CompletionRequest) (*Completion, error) {
	q.most, q.logprobs, q.echo = defaultTokens, -1, q.Echo
	if q.MaxTokens != nil {
		q.most = *q.MaxTokens
	}
	if q.Logprobs != nil {
		q.logprobs = *q.Logprobs
	}
	switch {
	case q.most < 0 || q.most == 0 && !q.Echo:
		return nil, refuse(http.StatusBadRequest, "max_tokens", "max_tokens must be at least 1, or 0 with echo")
	case q.logprobs > maxTop || q.Logprobs != nil && q.logprobs < 0:
		return nil, refuse(http.StatusBadRequest, "logprobs", "logprobs must be in 0.."+strconv.Itoa(maxTop))
	case q.Echo && q.Suffix != nil:
		return nil, refuse(http.StatusBadRequest, "echo", "echo does not go with suffix")
	}
	if err := q.check(s); err != nil {
		return nil, err
	}
	prompts, err := prompts(q.Prompt)
	if err != nil {
		return nil, err
	}
	q.seeded()
	var jobs []Job
	for _, p := range prompts {
		j, err := s.completion(q, p)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return x.complete(&q.common, jobs)
}

// completion is the job of a prompt. A canvas of a network of fixed length has that length.
func (s *Server) completion(q *CompletionRequest, prompt any) (Job, error) {
	facts, fill := s.Model.Facts(), q.most
	if text, ok := prompt.(string); ok && fill > 0 {
		if facts.FixedLength {
			fill = 0
		}
		more := map[string]any{"prefix": text}
		if q.Suffix != nil {
			more["suffix"] = *q.Suffix
		}
		return q.job(s, fill, more)
	}
	ids, ok := prompt.([]*int)
	if !ok {
		plain, err := s.Words.EncodePlain(prompt.(string))
		if err != nil {
			return Job{}, invalid("prompt", err)
		}
		for i := range plain {
			ids = append(ids, &plain[i])
		}
	}
	switch {
	case q.Suffix != nil:
		return Job{}, refuse(http.StatusBadRequest, "suffix", "suffix goes with a prompt that is text")
	case facts.FixedLength:
		fill = max(facts.Length-len(ids), 1)
	}
	fill = min(fill, facts.Length)
	return q.job(s, 0, map[string]any{"ids": slices.Concat(ids, make([]*int, fill))})
}

// maxPrompts bounds the prompts of a request.
const maxPrompts = 128

// prompts reads a prompt: a text, a list of ids, or a list of these.
func prompts(raw json.RawMessage) (out []any, err error) {
	one := func(raw json.RawMessage) any {
		var text *string
		var ids []*int
		switch {
		case json.Unmarshal(raw, &text) == nil && text != nil:
			return *text
		case json.Unmarshal(raw, &ids) == nil && len(ids) > 0 && !slices.Contains(ids, nil):
			return ids
		}
		return nil
	}
	if len(raw) == 0 {
		return []any{""}, nil
	}
	if p := one(raw); p != nil {
		return []any{p}, nil
	}
	var list []json.RawMessage
	wrong := json.Unmarshal(raw, &list) != nil || len(list) == 0 || len(list) > maxPrompts
	for _, item := range list {
		p := one(item)
		out, wrong = append(out, p), wrong || p == nil
	}
	if wrong {
		return nil, refuse(http.StatusBadRequest, "prompt", "prompt must be a text, a list of ids, or a list of at most "+strconv.Itoa(maxPrompts)+" of these")
	}
	return out, nil
}
