package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// ScoreRequest asks how probable a text is.
type ScoreRequest struct {
	Model string `json:"model,omitempty"`
	// Text is a text or a list of ids; Context is what is given before it, and not scored.
	Text    json.RawMessage `json:"text"`
	Context json.RawMessage `json:"context,omitempty"`
	// Exact has the values worked out, from 2^n rows for n tokens; null does that for a few.
	Exact *bool `json:"exact,omitempty"`
	// Draws is the number of draws of an estimate, which Seed determines.
	Draws *int   `json:"draws,omitempty"`
	Seed  uint64 `json:"seed,omitempty"`
}

// ScoreAnswer is the NELBO of a text, in nats a text, an upper bound on −log P of First-Hitting: an estimate
// with its standard error, or, where Exact is set, its value beside those of samplers.
type ScoreAnswer struct {
	Model  string            `json:"model"`
	Tokens int               `json:"tokens"`
	Exact  bool              `json:"exact"`
	NELBO  estimate.Estimate `json:"nelbo"`
	// FHS and LeftToRight are −log P of First-Hitting and of one token after the other; null in an estimate.
	FHS         *estimate.Number `json:"fhs"`
	LeftToRight *estimate.Number `json:"left_to_right"`
	// Rows is the number of canvases that the network was asked about.
	Rows              int    `json:"rows"`
	Seed              uint64 `json:"seed"`
	SystemFingerprint string `json:"system_fingerprint"`
}

// mostExact is how many tokens are scored exactly on demand, and fewExact without.
const (
	mostExact = 12
	fewExact  = 6
	maxDraws  = 1024
)

func (s *Server) score(x *exchange, q *ScoreRequest) (*ScoreAnswer, error) {
	if err := s.named(q.Model); err != nil {
		return nil, err
	}
	target, err := s.target(q)
	if err != nil {
		return nil, err
	}
	d := len(target.Free)
	exact := d <= fewExact && !s.Model.Facts().TimeConditioned
	if q.Exact != nil {
		exact = *q.Exact
	}
	c := likelihood.Config{Seed: q.Seed}
	if q.Draws != nil {
		c.Draws = *q.Draws
	}
	switch {
	case exact && d > mostExact:
		return nil, refuse(http.StatusBadRequest, "exact", fmt.Sprintf("%d tokens take 2^%d rows: at most %d are scored exactly", d, d, mostExact))
	case exact && s.Model.Facts().TimeConditioned:
		return nil, refuse(http.StatusBadRequest, "exact", "the network is time-conditioned: exact values take a quadrature, which mdmgen score --exact makes")
	case q.Draws != nil && (c.Draws < 1 || c.Draws > maxDraws):
		return nil, refuse(http.StatusBadRequest, "draws", fmt.Sprintf("draws is %d: must be in 1..%d", c.Draws, maxDraws))
	}
	e, err := likelihood.New(shared{s.Model, s.engine}, likelihood.Options{})
	if err == nil {
		err = e.Check(target)
	}
	if err != nil {
		return nil, invalid("text", err)
	}
	free, err := x.room(e.Together(len(target.IDs), d) * len(target.IDs))
	if err != nil {
		return nil, err
	}
	defer free()
	out := &ScoreAnswer{Model: s.Name, Tokens: d, Exact: exact, Seed: q.Seed, SystemFingerprint: s.Fingerprint}
	if !exact {
		results, err := e.Estimate(x.r.Context(), []likelihood.Target{target}, 0, c)
		if err != nil {
			return nil, err
		}
		out.NELBO, out.Rows = results[0].Nats, results[0].Rows
		return out, nil
	}
	fhs, err := catalog.New(catalog.Options{Sampler: "fhs"}, s.Model.Spec())
	if err != nil {
		return nil, err
	}
	values, err := e.Values(x.r.Context(), []likelihood.Target{target}, fhs)
	if err != nil {
		return nil, err
	}
	v := values[0]
	out.NELBO, out.FHS, out.LeftToRight, out.Rows = likelihood.Known(float64(*v.NELBO)), v.FHS, v.LeftToRight, v.Rows
	return out, nil
}

// target is the text behind its context.
func (s *Server) target(q *ScoreRequest) (t likelihood.Target, err error) {
	given, err := s.ids("context", q.Context)
	if err != nil {
		return t, err
	}
	ids, err := s.ids("text", q.Text)
	if err != nil {
		return t, err
	}
	t.IDs = slices.Concat(given, ids)
	for l := len(given); l < len(t.IDs); l++ {
		t.Free = append(t.Free, l)
	}
	return t, nil
}

// ids reads a text or a list of ids.
func (s *Server) ids(field string, raw json.RawMessage) (ids []int, err error) {
	var text string
	switch {
	case len(raw) == 0 || json.Unmarshal(raw, &ids) == nil:
	case json.Unmarshal(raw, &text) == nil:
		ids, err = s.encode(text)
	default:
		err = fmt.Errorf("%s must be a text or a list of ids", field)
	}
	if err != nil {
		return nil, invalid(field, err)
	}
	return ids, nil
}

// shared is a model whose calls are those of an engine, which it shares with other requests.
type shared struct {
	model.Model
	engine *samplers.Engine
}

// Logits has a job of the engine ask for the rows of a call.
func (m shared) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	asked := &asker{call: c, shift: m.Facts().Shift}
	canvas := slices.Repeat([]int{m.Facts().MaskID}, c.Length())
	for _, err := range m.engine.Sample(ctx, samplers.Job{Canvas: canvas, Method: asked}) {
		if err != nil {
			return nil, err
		}
	}
	return asked.rows, nil
}

// asker is a method that asks for the rows of a call once, and writes nothing.
type asker struct {
	call  samplers.Call
	shift bool
	asked bool
	rows  []float32
}

// Start begins the one sequence of the job.
func (a *asker) Start(*samplers.Canvas, *draw.Numbers) (samplers.Decoder, error) { return a, nil }

// Ask asks for the positions of tokens, where a call has those of input rows.
func (a *asker) Ask(ask *samplers.Ask) bool {
	if a.asked {
		return false
	}
	a.asked = true
	length, at := a.call.Length(), 0
	for r, n := range a.call.Counts {
		row := samplers.AskRow{Canvas: a.call.IDs[r*length : (r+1)*length]}
		for _, l := range a.call.Positions[at : at+n] {
			if a.shift {
				l++
			}
			row.Positions = append(row.Positions, int(l))
		}
		if a.call.Sigma != nil {
			row.Theta = a.call.Sigma[r]
		}
		at += n
		ask.Rows = append(ask.Rows, row)
	}
	return true
}

// Take copies the rows.
func (a *asker) Take(rows samplers.Rows, _ *samplers.Edit) error {
	for r, n := range a.call.Counts {
		for j := range n {
			a.rows = append(a.rows, rows.Logits(r, j)...)
		}
	}
	return nil
}
