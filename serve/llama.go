package serve

import (
	"fmt"
	"net/http"
	"strings"

	"mdmgen/samplers/catalog"
	"mdmgen/tokenize"
)

// Health is the state of the server.
type Health struct {
	Status string `json:"status"`
}

// ready answers that the server takes requests, until it drains.
func (s *Server) ready(x *exchange) error {
	if s.draining.Load() {
		return &Refusal{status: http.StatusServiceUnavailable, Message: "the server is shutting down", Type: "server_error"}
	}
	return x.answer(http.StatusOK, Health{"ready"})
}

// Models is a list of the single model.
type Models struct {
	Object string      `json:"object"`
	Data   []ModelCard `json:"data"`
}

// ModelCard is a model. MaxModelLen is the maximum number of positions of a canvas.
type ModelCard struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	MaxModelLen int    `json:"max_model_len"`
}

func (s *Server) card() ModelCard {
	return ModelCard{s.Name, "model", s.began.Unix(), "mdmgen", s.Model.Facts().Length}
}

func (s *Server) model(x *exchange) error {
	if err := s.serves(x.r.PathValue("name")); err != nil {
		return err
	}
	return x.answer(http.StatusOK, s.card())
}

// serves returns an error for another model than the server's.
func (s *Server) serves(name string) error {
	if strings.TrimSuffix(name, ":latest") == s.Name { // Ollama's clients add it.
		return nil
	}
	return &Refusal{status: http.StatusNotFound, Message: "this server serves only " + s.Name, Type: "invalid_request_error", Param: "model", Code: "model_not_found"}
}

// unknown answers paths without a route, and methods that a path does not have.
func (s *Server) unknown(x *exchange) error {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if s.routes[method+" "+x.r.URL.Path] != nil {
			x.w.Header().Set("Allow", method)
			return refuse(http.StatusMethodNotAllowed, "", x.r.URL.Path+" has the method "+method)
		}
	}
	return refuse(http.StatusNotFound, "", fmt.Sprintf("there is no %.80q: GET /openapi.json lists the routes", x.r.URL.Path))
}

// Props holds facts about the model and the server.
type Props struct {
	DefaultGenerationSettings struct {
		NCtx int `json:"n_ctx"`
	} `json:"default_generation_settings"`
	TotalSlots  int      `json:"total_slots"`
	ModelAlias  string   `json:"model_alias"`
	BuildInfo   string   `json:"build_info"`
	MaskID      int      `json:"mask_id"`
	FixedLength bool     `json:"fixed_length"`
	Samplers    []string `json:"samplers"`
}

func (s *Server) props() Props {
	f := s.Model.Facts()
	p := Props{TotalSlots: s.Batch, ModelAlias: s.Name, BuildInfo: s.Fingerprint, MaskID: f.MaskID, FixedLength: f.FixedLength, Samplers: catalog.Names()}
	p.DefaultGenerationSettings.NCtx = f.Length
	return p
}

// InfillRequest is llama-server's, with the settings of samplers in addition.
type InfillRequest struct {
	InputPrefix string `json:"input_prefix,omitempty"`
	InputSuffix string `json:"input_suffix,omitempty"`
	// NPredict is the number of positions to sample; 0 and −1 are 16.
	NPredict int          `json:"n_predict,omitempty"`
	Stop     list[string] `json:"stop,omitempty" jsonschema_description:"a text, or a list of at most 4, none of them empty"`
	line     `json:"-"`
}

// Infilled holds the text between prefix and suffix.
type Infilled struct {
	Content string `json:"content"`
	*Meta
}

func (s *Server) infill(x *exchange, q *InfillRequest) (*Infilled, error) {
	if err := q.single(); err != nil {
		return nil, err
	}
	if q.NPredict < -1 {
		return nil, refuse(http.StatusBadRequest, "n_predict", "n_predict must be at least 1")
	}
	asked := CompletionRequest{Prompt: list[given]{{text: &q.InputPrefix}}, Suffix: &q.InputSuffix, common: common{named: "n_predict", Stop: q.Stop, line: q.line}}
	if q.NPredict > 0 {
		asked.MaxTokens = &q.NPredict
	}
	out, err := s.completions(x, &asked)
	if err != nil {
		return nil, err
	}
	return &Infilled{*out.Choices[0].Text, out.Meta}, nil
}

// TokenizeRequest is a text. No part of it becomes the mask or a special token.
type TokenizeRequest struct {
	Content string `json:"content"`
}

// Tokenized holds ids.
type Tokenized struct {
	Tokens tokenize.IDs `json:"tokens"`
}

func (s *Server) tokenize(_ *exchange, q *TokenizeRequest) (*Tokenized, error) {
	ids, err := s.encode("content", given{text: &q.Content})
	return &Tokenized{append([]int{}, ids...)}, err
}

func (s *Server) detokenize(_ *exchange, q *Tokenized) (*TokenizeRequest, error) {
	words, err := s.words()
	if err != nil {
		return nil, err
	}
	text, err := words.Decode(q.Tokens)
	if err != nil {
		return nil, invalid("tokens", err)
	}
	return &TokenizeRequest{text}, nil
}
