package reading

import (
	"encoding/json"

	"mdmgen/internal/fault"
)

// Request is a question as JSON: a canvas, and what is asked about it.
type Request struct {
	Canvas
	// Top is how many of the most probable tokens are wanted at each masked position; null is DefaultTop.
	Top *int `json:"top,omitempty"`
	// Candidates are texts, CandidateIDs lists of ids, for every gap or the one that Gap counts from 1.
	Candidates   []string `json:"candidates,omitempty"`
	CandidateIDs [][]int  `json:"candidate_ids,omitempty"`
	Gap          int      `json:"gap,omitempty"`
	Law          Law      `json:"law,omitempty"`
}

// Canvas are the fields of a line of `mdmgen generate --input` that make a canvas.
type Canvas struct {
	Prefix   *string         `json:"prefix,omitempty"`
	Suffix   *string         `json:"suffix,omitempty"`
	Length   *int            `json:"length,omitempty"`
	Infill   json.RawMessage `json:"infill,omitempty"`
	IDs      json.RawMessage `json:"ids,omitempty"`
	Messages json.RawMessage `json:"messages,omitempty"`
}

// DefaultTop and MostTop are the number of most probable tokens, and the greatest, at a position.
const (
	DefaultTop = 5
	MostTop    = 1000
)

// Question is the question about a canvas, which build makes of a line; encode turns texts into ids.
func (r *Request) Question(build func(line []byte) ([]int, error), encode func(text string) ([]int, error)) (q Question, err error) {
	q = Question{Top: DefaultTop, Candidates: r.CandidateIDs, Gap: r.Gap, Law: r.Law}
	if r.Top != nil {
		q.Top = *r.Top
	}
	if q.Top < 0 || q.Top > MostTop {
		return q, fault.Errorf("reading", "top is %d: must be in 0..%d", q.Top, MostTop)
	}
	line, err := json.Marshal(r.Canvas)
	if err != nil {
		return q, err
	}
	if q.Canvas, err = build(line); err != nil {
		return q, err
	}
	for _, text := range r.Candidates {
		ids, err := encode(text)
		if err != nil {
			return q, err
		}
		q.Candidates = append(q.Candidates, ids)
	}
	return q, nil
}

// Spell fills in the texts of tokens and candidates.
func (a *Answer) Spell(piece func(id int) string) {
	for _, gap := range a.Gaps {
		for _, p := range gap.Positions {
			for i := range p.Top {
				p.Top[i].Text = piece(p.Top[i].ID)
			}
		}
		for i := range gap.Candidates {
			for _, id := range gap.Candidates[i].IDs {
				gap.Candidates[i].Text += piece(id)
			}
		}
	}
}
