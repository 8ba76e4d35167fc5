package reading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
	"mdmgen/requests"
	"mdmgen/tokenize"
)

// Request is the JSON form of a question: a canvas and what to return about it.
type Request struct {
	Canvas
	// Top is the number of most probable tokens to return at each masked position; null means
	// DefaultTop.
	Top *int `json:"top,omitempty"`
	// Candidates are texts, CandidateIDs lists of ids, for every gap or the one that Gap counts
	// from 1.
	Candidates   []string       `json:"candidates,omitempty"`
	CandidateIDs []tokenize.IDs `json:"candidate_ids,omitempty"`
	Gap          int            `json:"gap,omitempty"`
	Law          Law            `json:"law,omitempty"`
}

// Canvas holds the fields of a [requests.Request] in JSON that define a canvas.
type Canvas struct {
	Prefix   *string         `json:"prefix,omitempty"`
	Suffix   *string         `json:"suffix,omitempty"`
	Length   *int            `json:"length,omitempty"`
	Infill   json.RawMessage `json:"infill,omitempty"`
	IDs      json.RawMessage `json:"ids,omitempty"`
	Messages json.RawMessage `json:"messages,omitempty"`
	// KeepBlank leaves a blank before masks, as in a request.
	KeepBlank bool `json:"keep_blank,omitempty"`
}

// The numbers of most probable tokens at a position.
const (
	DefaultTop = 5    // the default
	MaxTop     = 1000 // the maximum
)

// Asker answers requests with a model.
type Asker struct {
	*likelihood.Evaluator
	// Requests makes the canvas.
	Requests *requests.Builder
	// Words is nil for a model without a tokenizer; Piece returns the text of a token within a
	// text.
	Words *tokenize.Tokenizer
	Piece func(id int) string
}

// Answer answers a request. An invalid request is a [fault.Error] of this package.
func (a *Asker) Answer(ctx context.Context, r Request) (*Answer, error) {
	q, blanks, err := a.question(ctx, r)
	if err != nil {
		return nil, fault.Errorf("reading", "%w", err)
	}
	out, err := Read(ctx, a.Evaluator, q)
	if err != nil || a.Words == nil {
		return out, err
	}
	out.Blanks = blanks
	for _, gap := range out.Gaps {
		for _, p := range gap.Positions {
			for i := range p.Top {
				p.Top[i].Text = a.Piece(p.Top[i].ID)
			}
		}
		for i := range gap.Candidates {
			for _, id := range gap.Candidates[i].IDs {
				gap.Candidates[i].Text += a.Piece(id)
			}
		}
	}
	return out, nil
}

// canvas returns the canvas of a request in JSON.
func (a *Asker) canvas(ctx context.Context, c Canvas) (j requests.Job, err error) {
	object, err := json.Marshal(c)
	if err != nil {
		return j, err
	}
	r, err := a.Requests.Parse(object)
	if err != nil {
		return j, err
	}
	return a.Requests.Job(ctx, r)
}

// question converts a request to a question. It returns how many gaps took the blank before them.
func (a *Asker) question(ctx context.Context, r Request) (q Question, blanks int, err error) {
	q = Question{Top: DefaultTop, Gap: r.Gap, Law: r.Law}
	for _, ids := range r.CandidateIDs {
		q.Candidates = append(q.Candidates, ids)
	}
	if r.Top != nil {
		q.Top = *r.Top
	}
	switch {
	case q.Top < 0 || q.Top > MaxTop:
		return q, 0, fmt.Errorf("top is %d: must be in 0..%d", q.Top, MaxTop)
	case len(r.Candidates) > 0 && a.Words == nil:
		return q, 0, errors.New("the model has no tokenizer: give candidate_ids")
	}
	if r.CandidateIDs != nil {
		r.KeepBlank = true // They are the tokens after it.
	}
	j, err := a.canvas(ctx, r.Canvas)
	if n := len(gaps(j.Tokens, a.Facts().MaskID)); len(r.Candidates) > 0 && len(j.Blanks)%max(n, 1) != 0 {
		r.KeepBlank = true // A candidate has a blank in all gaps or in none.
		j, err = a.canvas(ctx, r.Canvas)
	}
	q.Canvas, blanks = j.Tokens, len(j.Blanks)
	for _, text := range r.Candidates {
		if err != nil {
			break
		}
		if blanks > 0 && !strings.HasPrefix(text, " ") {
			text = " " + text
		}
		var ids []int
		ids, err = a.Words.EncodePlain(text)
		q.Candidates = append(q.Candidates, ids)
	}
	return q, blanks, err
}
