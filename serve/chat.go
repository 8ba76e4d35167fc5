package serve

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
)

// ChatRequest is OpenAI's, with the settings of samplers beside it.
type ChatRequest struct {
	Messages []ChatMessage `json:"messages" jsonschema_description:"a list of turns, each with role and content, a text or a list of parts of type text"`
	// MaxTokens is the older name of MaxCompletionTokens: how many positions are sampled, all that the model's
	// length leaves unless told.
	MaxTokens           int `json:"max_tokens,omitempty"`
	MaxCompletionTokens int `json:"max_completion_tokens,omitempty"`
	// Logprobs has log-probabilities in nats told, with TopLogprobs alternatives.
	Logprobs    bool `json:"logprobs,omitempty"`
	TopLogprobs int  `json:"top_logprobs,omitempty"`
	common
}

// ChatMessage is a turn, whose content is a text or a list of parts that are texts.
type ChatMessage struct {
	Role    string   `json:"role"`
	Content *content `json:"content"`
}

func (s *Server) chat(x *exchange, q *ChatRequest) (*Completion, error) {
	q.most, q.logprobs, q.common.chat = max(q.MaxTokens, q.MaxCompletionTokens), -1, true
	if q.Logprobs {
		q.logprobs = q.TopLogprobs
	}
	switch {
	case q.MaxTokens < 0 || q.MaxCompletionTokens < 0 || q.MaxTokens > 0 && q.MaxCompletionTokens > 0:
		return nil, refuse(http.StatusBadRequest, "max_completion_tokens", "max_completion_tokens must be at least 1, and max_tokens is its older name: give one")
	case q.TopLogprobs < 0 || q.TopLogprobs > maxTop || q.TopLogprobs > 0 && !q.Logprobs:
		return nil, refuse(http.StatusBadRequest, "top_logprobs", "top_logprobs must be in 0.."+strconv.Itoa(maxTop)+", with logprobs")
	}
	for i, m := range q.Messages {
		if m.Content == nil {
			return nil, refuse(http.StatusBadRequest, "messages", "message "+strconv.Itoa(i+1)+" has no content")
		}
		if m.Role == "developer" {
			q.Messages[i].Role = "system" // OpenAI's older name
		}
	}
	j, err := q.job(s, q.most, map[string]any{"messages": q.Messages})
	if err != nil {
		return nil, err
	}
	return x.complete(&q.common, []Job{j})
}

// content is a text, or joins parts that are texts.
type content string

func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(c))
	}
	var parts []struct {
		Type string
		Text *string
	}
	err := json.Unmarshal(raw, &parts)
	for _, p := range parts {
		if p.Type != "text" || p.Text == nil {
			return errors.New("not a part of type text")
		}
		*c += content(*p.Text)
	}
	return err
}
