package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"mdmgen/requests"
	"mdmgen/samplers"
)

// OllamaRequest asks for the continuation of Prompt, or in a chat for an answer to Messages. A model
// with a chat template takes a prompt as a message, unless Raw or Suffix is set.
type OllamaRequest struct {
	Model    string        `json:"model,omitempty"`
	Messages []ChatMessage `json:"messages,omitempty" jsonschema_description:"a list of turns, each with role and content"`
	Prompt   string        `json:"prompt,omitempty"`
	Suffix   *string       `json:"suffix,omitempty"`
	System   string        `json:"system,omitempty"`
	Raw      bool          `json:"raw,omitempty"`
	Stream   *bool         `json:"stream,omitempty"` // true by default
	// Format is a JSON schema.
	Format json.RawMessage `json:"format,omitempty"`
	// Options are num_predict (by default at most 256), stop, and settings of samplers.
	Options fields `json:"options,omitempty"`
	line    `json:"-"`
	own     struct {
		NumPredict int          `json:"num_predict"`
		Stop       list[string] `json:"stop" jsonschema_description:"a text, or a list of at most 4, none of them empty"`
	}
}

func (q *OllamaRequest) settings(rest fields) error {
	if _, err := q.Options.decode(&q.own); err != nil {
		return err
	}
	for name, value := range q.Options {
		if rest[name] != nil {
			return refuse(http.StatusBadRequest, name, name+" is given twice, once in options")
		}
		rest[name] = value
	}
	switch string(q.Format) {
	case "", `""`:
	case `"json"`:
		return refuse(http.StatusBadRequest, "format", "format is \"json\": must be a JSON schema")
	default:
		rest["guided_json"] = q.Format
	}
	return q.line.settings(rest)
}

// OllamaAnswer is an answer or, in a stream, a part of one. Durations are in nanoseconds.
type OllamaAnswer struct {
	Model              string    `json:"model"`
	CreatedAt          time.Time `json:"created_at"`
	Message            *Message  `json:"message,omitempty"`
	Response           *string   `json:"response,omitempty"`
	Done               bool      `json:"done"`
	DoneReason         string    `json:"done_reason,omitempty"`
	TotalDuration      int64     `json:"total_duration,omitempty"`
	PromptEvalCount    int       `json:"prompt_eval_count,omitempty"`
	PromptEvalDuration int64     `json:"prompt_eval_duration,omitempty"`
	EvalCount          int       `json:"eval_count,omitempty"`
	EvalDuration       int64     `json:"eval_duration,omitempty"`
	*Meta
}

// ollama answers a chat or a prompt, by the path. Without either, clients ask only for the model to be
// loaded.
func (s *Server) ollama(x *exchange, q *OllamaRequest) (*OllamaAnswer, error) {
	chat := strings.HasSuffix(x.r.URL.Path, "chat")
	plain := q.Raw || q.Suffix != nil || !chat && !s.talks()
	switch {
	case chat && (q.Prompt != "" || q.System != "" || plain), !chat && q.Messages != nil:
		return nil, refuse(http.StatusBadRequest, "messages", "/api/chat has messages, /api/generate prompt, suffix, system and raw")
	case plain && q.System != "":
		return nil, refuse(http.StatusBadRequest, "system", "system excludes raw and suffix, and needs a model with a chat template")
	}
	a, reason := OllamaAnswer{Model: s.Name}, "load"
	part := func(c *Completion) any {
		text := ""
		for _, choice := range c.Choices {
			text, reason = choice.said(), samplers.ValueOr(choice.FinishReason, reason)
		}
		if a.CreatedAt, a.Response = time.Now().UTC(), &text; chat {
			a.Message, a.Response = &Message{"assistant", text}, nil
		}
		return a
	}
	shared := common{Stop: q.own.Stop, Stream: samplers.ValueOr(q.Stream, true), line: q.line, named: "num_predict", part: part}
	shared.StreamOptions.IncludeUsage = true
	out, err := &Completion{Meta: &Meta{Usage: &Usage{}}}, q.single()
	switch {
	case err != nil, len(q.Messages) == 0 && q.Prompt == "" && q.Suffix == nil:
	case plain:
		asked := CompletionRequest{Prompt: list[given]{{text: &q.Prompt}}, Suffix: q.Suffix, common: shared, usual: requests.MaxAnswer}
		if q.own.NumPredict > 0 {
			asked.MaxTokens = &q.own.NumPredict
		}
		out, err = s.completions(x, &asked)
	default:
		if q.System != "" {
			q.Messages = []ChatMessage{{"system", (*content)(&q.System)}}
		}
		if !chat {
			q.Messages = append(q.Messages, ChatMessage{"user", (*content)(&q.Prompt)})
		}
		out, err = s.chat(x, &ChatRequest{Messages: q.Messages, MaxTokens: max(q.own.NumPredict, 0), common: shared})
	}
	if err != nil {
		return nil, err
	}
	part(out)
	a.Done, a.DoneReason, a.Meta, a.PromptEvalCount, a.EvalCount = true, reason, out.Meta, out.Usage.PromptTokens, out.Usage.CompletionTokens
	first, all := int64(out.Timings.FirstMS*1e6), int64(out.Timings.PredictedMS*1e6)
	a.TotalDuration, a.PromptEvalDuration, a.EvalDuration = all, first, all-first
	return &a, nil
}

// OllamaFailure says why a request is rejected or fails.
type OllamaFailure struct {
	Error string `json:"error"`
}

// ShowRequest names the model, which older clients call Name.
type ShowRequest struct {
	Model   string `json:"model,omitempty"`
	Name    string `json:"name,omitempty"`
	Verbose bool   `json:"verbose,omitempty"`
}

func (s *Server) show(_ *exchange, q *ShowRequest) (*map[string]any, error) {
	if q.Name != "" {
		if err := s.serves(q.Name); err != nil {
			return nil, err
		}
	}
	return new(s.shown()), nil
}

// shown are the facts of the model.
func (s *Server) shown() map[string]any {
	f := s.Model.Facts()
	return map[string]any{
		"name": s.Name, "model": s.Name, "modified_at": s.began, "digest": strings.TrimPrefix(f.Digest, "sha256:"),
		"details": map[string]any{"family": f.Family, "quantization_level": f.Dtype}, "capabilities": []string{"completion", "insert"},
		"model_info": map[string]any{"general.architecture": f.Family, "general.parameter_count": f.Parameters, f.Family + ".context_length": f.Length},
	}
}
