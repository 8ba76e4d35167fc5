package reading

import (
	"bytes"
	"encoding/json"

	"mdmgen/internal/fault"
)

// Request is a question as JSON: the fields of a line of `mdmgen generate --input` that make a canvas, and
// what is asked about it.
type Request struct {
	Canvas
	// Top is how many of the most probable tokens are wanted at each masked position; nil is DefaultTop.
	Top *int `json:"top,omitempty"`
	// Candidates are texts, for every gap, or a list for each gap, from left to right and null for none, of
	// texts and lists of ids.
	Candidates []json.RawMessage `json:"candidates,omitempty"`
	// Fit and Law are those of [Question].
	Fit bool `json:"fit,omitempty"`
	Law Law  `json:"law,omitempty"`
}

// Canvas is what a canvas is made of.
type Canvas struct {
	Prefix   *string         `json:"prefix,omitempty"`
	Suffix   *string         `json:"suffix,omitempty"`
	Length   *int            `json:"length,omitempty"`
	Infill   json.RawMessage `json:"infill,omitempty"`
	IDs      json.RawMessage `json:"ids,omitempty"`
	Messages json.RawMessage `json:"messages,omitempty"`
}

// Line is the canvas as a line of input.
func (c Canvas) Line() ([]byte, error) { return json.Marshal(c) }

// DefaultTop and MostTop are the number of most probable tokens, and the greatest, at a position.
const (
	DefaultTop = 5
	MostTop    = 1000
)

// Question is what is asked about the canvas of the request; encode turns texts into ids.
func (r *Request) Question(canvas []int, mask int, encode func(text string) ([]int, error)) (Question, error) {
	q := Question{Canvas: canvas, Top: DefaultTop, Fit: r.Fit, Law: r.Law}
	if r.Top != nil {
		if q.Top = *r.Top; q.Top < 0 || q.Top > MostTop {
			return q, fault.Errorf("reading", "top is %d: must be in 0..%d", q.Top, MostTop)
		}
	}
	if len(r.Candidates) == 0 {
		return q, nil
	}
	if bytes.HasPrefix(r.Candidates[0], []byte(`"`)) {
		same, err := candidates(r.Candidates, encode)
		for range gaps(canvas, mask) {
			q.Candidates = append(q.Candidates, same)
		}
		return q, err
	}
	for _, raw := range r.Candidates {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return q, errCandidates
		}
		gap, err := candidates(list, encode)
		if err != nil {
			return q, err
		}
		q.Candidates = append(q.Candidates, gap)
	}
	return q, nil
}

var errCandidates = fault.Errorf("reading", "candidates must be texts, for every gap, or a list for each gap of texts and lists of ids")

// candidates are those of one gap.
func candidates(list []json.RawMessage, encode func(text string) ([]int, error)) (out [][]int, err error) {
	for _, raw := range list {
		var text *string
		var ids []int
		if json.Unmarshal(raw, &text) == nil && text != nil {
			if ids, err = encode(*text); err != nil {
				return nil, err
			}
		} else if json.Unmarshal(raw, &ids) != nil {
			return nil, errCandidates
		}
		out = append(out, ids)
	}
	return out, nil
}

// Spell fills in the texts of tokens and candidates.
func (a *Answer) Spell(piece func(id int) string) {
	for g := range a.Gaps {
		gap := &a.Gaps[g]
		for p := range gap.Positions {
			for i := range gap.Positions[p].Top {
				t := &gap.Positions[p].Top[i]
				t.Text = piece(t.ID)
			}
		}
		for i := range gap.Candidates {
			c := &gap.Candidates[i]
			c.Text = ""
			for _, id := range c.IDs {
				c.Text += piece(id)
			}
		}
	}
}
