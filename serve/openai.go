package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strconv"

	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/tokenize"
	"mdmgen/tokenize/chat"
)

// CompletionRequest is OpenAI's, with the settings of samplers in addition.
type CompletionRequest struct {
	Prompt list[given] `json:"prompt,omitempty" jsonschema_description:"a text, a list of ids, or a list of at most 128 of these"`
	Suffix *string     `json:"suffix,omitempty"`
	// MaxTokens is the number of positions to sample, by default 16 or as many as are left.
	MaxTokens *int `json:"max_tokens,omitempty"`
	// Logprobs is the number of alternatives listed with each token. Log-probabilities are in nats.
	Logprobs *int `json:"logprobs,omitempty"`
	// Echo prepends the prompt to the answer, and with Logprobs its tokens, each given only the
	// preceding ones.
	Echo bool `json:"echo,omitempty"`
	common
	usual int // MaxTokens by default, 0 for defaultTokens
}

// defaultTokens is the default number of positions of a completion, the same as OpenAI's.
const defaultTokens = 16

func (s *Server) completions(x *exchange, q *CompletionRequest) (*Completion, error) {
	q.most, q.logprobs, q.echo, q.object = samplers.ValueOr(q.MaxTokens, cmp.Or(q.usual, defaultTokens)), samplers.ValueOr(q.Logprobs, -1), q.Echo, "text_completion"
	switch {
	case q.most < 0 || q.most == 0 && !q.Echo:
		return nil, refuse(http.StatusBadRequest, "max_tokens", "max_tokens must be at least 1, or 0 with echo")
	case q.logprobs > maxTop || q.Logprobs != nil && q.logprobs < 0:
		return nil, refuse(http.StatusBadRequest, "logprobs", "logprobs must be in 0.."+strconv.Itoa(maxTop))
	case len(q.Prompt) > maxPrompts:
		return nil, refuse(http.StatusBadRequest, "prompt", "prompt must be a text, a list of ids, or a list of at most "+strconv.Itoa(maxPrompts)+" of these")
	case q.Echo && q.Suffix != nil:
		return nil, refuse(http.StatusBadRequest, "echo", "echo excludes suffix")
	}
	if q.Prompt == nil {
		q.Prompt = list[given]{{}}
	}
	if _, err := s.words(); err != nil {
		return nil, err
	}
	r, err := q.request(s)
	if err != nil {
		return nil, err
	}
	r.Suffix = q.Suffix
	fill := min(q.most, 1) // at least
	switch {
	case s.Model.Facts().FixedLength:
	case q.MaxTokens == nil || q.most == 0:
		r.Length = requests.Length{Fill: q.most, AtMost: true}
	default:
		r.Length, fill = requests.Length{Fill: q.most}, q.most
	}
	var jobs []requests.Job
	for _, p := range q.Prompt {
		r.Prefix, r.Start = p.text, p.ids
		j, err := x.job(r, cmp.Or(q.named, "max_tokens"), fill)
		if err != nil {
			_, before := s.encode("prompt", p)
			_, after := s.encode("suffix", given{text: q.Suffix})
			return nil, cmp.Or(after, before, err) // A text that cannot be written has its field's name.
		}
		jobs = append(jobs, j)
	}
	return x.complete(&q.common, jobs)
}

// maxPrompts is the maximum number of prompts in a request.
const maxPrompts = 128

// given is a text, or ids.
type given struct {
	text *string
	ids  tokenize.IDs
}

func (g *given) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, &g.text)
	}
	return json.Unmarshal(raw, &g.ids)
}

// words returns the tokenizer, or an error if the model has none.
func (s *Server) words() (*tokenize.Tokenizer, error) {
	if s.Words == nil {
		return nil, refuse(http.StatusBadRequest, "", "the model has no tokenizer: give ids to /v1/generate, /v1/read or /v1/score")
	}
	return s.Words, nil
}

// encode returns the ids that a field gives.
func (s *Server) encode(field string, g given) ([]int, error) {
	if g.text == nil {
		return g.ids, nil
	}
	words, err := s.words()
	if err != nil {
		return nil, err
	}
	ids, err := words.EncodePlain(*g.text)
	if err != nil {
		return nil, invalid(field, err)
	}
	return ids, nil
}

// ChatRequest is OpenAI's, with the settings of samplers in addition.
type ChatRequest struct {
	Messages []ChatMessage `json:"messages" jsonschema_description:"a list of turns, each with role and content"`
	// MaxTokens is the older name of MaxCompletionTokens: the number of positions to sample, by
	// default at most 256.
	MaxTokens           int `json:"max_tokens,omitempty"`
	MaxCompletionTokens int `json:"max_completion_tokens,omitempty"`
	// Logprobs asks for log-probabilities in nats, with TopLogprobs alternatives.
	Logprobs    bool `json:"logprobs,omitempty"`
	TopLogprobs int  `json:"top_logprobs,omitempty"`
	common
}

// ChatMessage is a turn. Its content is a text or a list of texts.
type ChatMessage struct {
	Role    string   `json:"role"`
	Content *content `json:"content" jsonschema_description:"a text or a list of parts of type text"`
}

// keys has the keys that shape an answer, too.
func (q *ChatRequest) keys() []string {
	return append(q.line.keys(), "prefix", "suffix", "infill", "continue_final_message", "chat_template_kwargs")
}

func (s *Server) chat(x *exchange, q *ChatRequest) (*Completion, error) {
	q.most, q.logprobs, q.common.chat, q.object = max(q.MaxTokens, q.MaxCompletionTokens), -1, true, "chat.completion"
	if q.Logprobs {
		q.logprobs = q.TopLogprobs
	}
	switch {
	case q.MaxTokens < 0 || q.MaxCompletionTokens < 0 || q.MaxTokens > 0 && q.MaxCompletionTokens > 0:
		return nil, refuse(http.StatusBadRequest, "max_completion_tokens", "max_completion_tokens must be at least 1, and max_tokens is its older name: give only one")
	case q.TopLogprobs < 0 || q.TopLogprobs > maxTop || q.TopLogprobs > 0 && !q.Logprobs:
		return nil, refuse(http.StatusBadRequest, "top_logprobs", "top_logprobs must be in 0.."+strconv.Itoa(maxTop)+", with logprobs")
	}
	messages := make([]chat.Message, len(q.Messages))
	for i, m := range q.Messages {
		if m.Content == nil {
			return nil, refuse(http.StatusBadRequest, "messages", "message "+strconv.Itoa(i+1)+" has no content")
		}
		if m.Role == "developer" {
			m.Role = "system" // OpenAI's older name
		}
		messages[i] = chat.Message{Role: m.Role, Content: string(*m.Content)}
	}
	if q.Messages == nil {
		return nil, refuse(http.StatusBadRequest, "messages", "messages are missing")
	}
	named := cmp.Or(q.named, "max_tokens")
	if q.MaxCompletionTokens > 0 {
		named = "max_completion_tokens"
	}
	r, err := q.request(s)
	if err != nil {
		return nil, err
	}
	r.Messages = messages
	if !s.Model.Facts().FixedLength { // There the answer takes what is left.
		r.Length.Fill = q.most
	}
	q.whole = r.Infill != nil
	j, err := x.job(r, named, r.Length.Fill)
	if err != nil {
		return nil, err
	}
	return x.complete(&q.common, []requests.Job{j})
}

// content is decoded from a text, or from a list of parts that are texts.
type content string

func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(c))
	}
	var parts []struct{ Type, Text *string }
	err := into(raw, reflect.ValueOf(&parts).Elem())
	for _, p := range parts {
		if p.Type == nil || *p.Type != "text" || p.Text == nil {
			return errors.New("not a part of type text")
		}
		*c += content(*p.Text)
	}
	return err
}
