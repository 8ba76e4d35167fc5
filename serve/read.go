package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/reading"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// ReadRequest asks about the gaps of a canvas.
type ReadRequest struct {
	// Model is the name of the model. It may be omitted.
	Model string `json:"model,omitempty"`
	reading.Request
}

// ReadAnswer holds the rows of a read.
type ReadAnswer struct {
	Model string `json:"model"`
	*reading.Answer
	SystemFingerprint string `json:"system_fingerprint"`
}

func (s *Server) read(x *exchange, q *ReadRequest) (*ReadAnswer, error) {
	e, free, err := x.evaluator(likelihood.Options{})
	if err != nil {
		return nil, err
	}
	defer free()
	ask := reading.Asker{Evaluator: e, Words: s.Words, Piece: s.Words.Piece(), Requests: s.requests}
	a, err := ask.Answer(x.r.Context(), q.Request)
	if wrong, ok := errors.AsType[*fault.Error](err); ok && wrong.Package == "reading" {
		return nil, invalid("", err)
	}
	return &ReadAnswer{s.Name, a, s.Fingerprint}, err
}

// ScoreRequest asks how probable a text is, given a context; each is a text or a list of ids.
type ScoreRequest struct {
	Model   string `json:"model,omitempty"`
	Text    given  `json:"text" jsonschema_description:"a text or a list of ids"`
	Context given  `json:"context,omitzero" jsonschema_description:"a text or a list of ids"`
	// Exact asks for exact values, from 2^n rows for n tokens; null computes them for few tokens
	// only, if Draws is not given.
	Exact *bool `json:"exact,omitempty"`
	// Draws is the number of draws of an estimate, which Seed determines.
	Draws int    `json:"draws,omitempty"`
	Seed  uint64 `json:"seed,omitempty"`
}

// ScoreAnswer is the NELBO of the tokens of a text in nats, an upper bound on −log P of
// First-Hitting: an estimate with its standard error or, if Exact is set, its exact value, with
// −log P of First-Hitting and of left-to-right decoding. Rows is the number of canvases that were
// evaluated.
type ScoreAnswer struct {
	Model             string           `json:"model"`
	Tokens            int              `json:"tokens"`
	Exact             bool             `json:"exact"`
	NELBO             estimate.Number  `json:"nelbo"`
	SE                estimate.Number  `json:"se"`
	FHS               *estimate.Number `json:"fhs"`
	LeftToRight       *estimate.Number `json:"left_to_right"`
	Rows              int              `json:"rows"`
	SystemFingerprint string           `json:"system_fingerprint"`
}

// The maximum numbers of tokens scored exactly on request and by default, and of draws.
const (
	maxExact = 12
	fewExact = 6
	maxDraws = 1024
)

func (s *Server) score(x *exchange, q *ScoreRequest) (*ScoreAnswer, error) {
	if s.Words != nil && q.Context.text != nil && q.Text.text != nil {
		*q.Context.text, *q.Text.text = s.Words.Joint(*q.Context.text, *q.Text.text)
	}
	before, err := s.encode("context", q.Context)
	ids, failed := s.encode("text", q.Text)
	if err := cmp.Or(err, failed); err != nil {
		return nil, err
	}
	facts := s.Model.Facts()
	target, timed := likelihood.Framed(facts, slices.Concat(before, ids)), facts.TimeConditioned
	target.Free = target.Free[len(before):]
	exact := samplers.ValueOr(q.Exact, len(ids) <= fewExact && !timed && q.Draws == 0)
	switch {
	case exact && q.Draws != 0:
		return nil, refuse(http.StatusBadRequest, "draws", "draws are for an estimate, and exact for none: give one of them")
	case exact && (len(ids) > maxExact || timed):
		return nil, refuse(http.StatusBadRequest, "exact", fmt.Sprintf("exact values are for at most %d tokens, and networks without time: leave it out for an estimate", maxExact))
	case q.Draws < 0 || q.Draws > maxDraws:
		return nil, refuse(http.StatusBadRequest, "draws", fmt.Sprintf("draws is %d: must be in 0..%d", q.Draws, maxDraws))
	}
	e, free, err := x.evaluator(likelihood.Options{})
	if err != nil {
		return nil, err
	}
	defer free()
	if err := e.Check(target); err != nil {
		return nil, invalid("text", err)
	}
	out := &ScoreAnswer{Model: s.Name, Tokens: len(ids), Exact: exact, SystemFingerprint: s.Fingerprint}
	if !exact {
		results, err := e.Estimate(x.r.Context(), []likelihood.Target{target}, 0, likelihood.Config{Seed: q.Seed, Draws: q.Draws})
		if err != nil {
			return nil, err
		}
		nats := results[0].Nats
		out.NELBO, out.SE, out.Rows = estimate.Number(nats.Mean), estimate.Number(nats.SE), results[0].Rows
		return out, nil
	}
	table, err := e.Table(x.r.Context(), target, false)
	if err != nil {
		return nil, err
	}
	out.NELBO, out.Rows = estimate.Number(table.NELBO()), table.Rows()
	out.FHS, out.LeftToRight = new(estimate.Number(table.FHS())), new(estimate.Number(table.LeftToRight()))
	return out, nil
}

// evaluator waits for its turn among all requests. The evaluator's calls are calls of the engine.
func (x *exchange) evaluator(o likelihood.Options) (e *likelihood.Evaluator, free func(), err error) {
	if e, err = likelihood.New(shared{x.s.Model, x}, o); err != nil {
		return nil, nil, invalid("", err)
	}
	leave, err := x.enter()
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	free, err = x.hold(x.r.Context(), x.s.readers, 1) // Each has the rows of a call in memory.
	return e, free, err
}

// shared is a model whose calls are made by a server's engine, together with those of other
// requests.
type shared struct {
	model.Model
	x *exchange
}

// Logits computes the rows of a call by a job of the engine.
func (m shared) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	spec := m.Spec()
	a := &asker{call: c, spec: spec}
	canvas := slices.Repeat([]int{spec.Mask}, c.Length())
	if err := m.x.s.steps(ctx, samplers.Job{Canvas: canvas, Method: a, Turn: &m.x.turn}, func(samplers.Step) error { return nil }); err != nil {
		return nil, err // The engine may still use the rows.
	}
	return a.rows, nil
}

// asker is a method that asks once for the rows of a call, and writes nothing.
type asker struct {
	call samplers.Call
	spec samplers.Spec
	rows []float32
}

// Start starts the single sequence of the job.
func (a *asker) Start(*samplers.Canvas, *draw.Numbers) (samplers.Decoder, error) { return a, nil }

// Ask asks for the positions of tokens, whereas a call has positions of input rows.
func (a *asker) Ask(ask *samplers.Ask) bool {
	if a.rows != nil {
		return false
	}
	at := 0
	for canvas := range slices.Chunk(a.call.IDs, a.call.Length()) {
		r := len(ask.Rows)
		row := samplers.AskRow{Canvas: canvas}
		if a.call.Blocks != nil {
			row.Block = a.call.Blocks[r]
		}
		shift := 1 - a.spec.InputRow(1, row.Block) // from input rows to tokens
		for _, l := range a.call.Positions[at : at+a.call.Counts[r]] {
			row.Positions = append(row.Positions, int(l)+shift)
		}
		if a.call.Sigma != nil {
			row.Theta = a.call.Sigma[r]
		}
		at += a.call.Counts[r]
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
