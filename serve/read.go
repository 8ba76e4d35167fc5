package serve

import (
	"context"
	"errors"
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/reading"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// ReadRequest is a question about a canvas with gaps.
type ReadRequest struct {
	// Model is the name of the model, which may be left out.
	Model string `json:"model,omitempty"`
	reading.Request
}

// ReadAnswer is what was read.
type ReadAnswer struct {
	Model string `json:"model"`
	*reading.Answer
	SystemFingerprint string `json:"system_fingerprint"`
}

func (s *Server) read(x *exchange, q *ReadRequest) (*ReadAnswer, error) {
	a, err := x.reading(q.Request)
	if err != nil {
		return nil, err
	}
	return &ReadAnswer{s.Name, a, s.Fingerprint}, nil
}

// reading answers a question in the calls of the engine.
func (x *exchange) reading(q reading.Request) (*reading.Answer, error) {
	e, free, err := x.evaluator(likelihood.Options{})
	if err != nil {
		return nil, err
	}
	defer free()
	ask := reading.Asker{Evaluator: e, Words: x.s.Words, Piece: x.s.Piece(), Build: func(line []byte) ([]int, error) {
		job, err := x.s.Job(line, 0)
		return job.Canvas, err
	}}
	a, err := ask.Answer(x.r.Context(), q)
	var wrong *fault.Error
	if errors.As(err, &wrong) && wrong.Package == "reading" {
		return nil, invalid("", err)
	}
	return a, err
}

// readers is how many requests read and score at once: each has the rows of a call in memory.
const readers = 4

// evaluator waits for its turn among all requests, and asks for rows in the calls of the engine.
func (x *exchange) evaluator(o likelihood.Options) (e *likelihood.Evaluator, free func(), err error) {
	if e, err = likelihood.New(shared{x.s.Model, x.s}, o); err != nil {
		return nil, nil, invalid("", err)
	}
	leave, err := x.enter()
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	free, err = x.s.take(x.r.Context(), max(1, x.s.Positions/readers), 0)
	return e, free, err
}

// shared is a model whose calls are those of a server's engine, beside other requests.
type shared struct {
	model.Model
	s *Server
}

// Logits has a job of the engine ask for the rows of a call.
func (m shared) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	spec := m.Spec()
	a := &asker{call: c, shift: 1 - spec.InputRow(1)}
	canvas := slices.Repeat([]int{spec.Mask}, c.Length())
	if err := m.s.steps(ctx, samplers.Job{Canvas: canvas, Method: a}, func(samplers.Step) error { return nil }); err != nil {
		return nil, err // The engine may still have the rows.
	}
	return a.rows, nil
}

// asker is a method that asks once, for the rows of a call, and writes nothing.
type asker struct {
	call  samplers.Call
	shift int // from input rows to tokens
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
	at := 0
	for canvas := range slices.Chunk(a.call.IDs, a.call.Length()) {
		r := len(ask.Rows)
		row := samplers.AskRow{Canvas: canvas}
		for _, l := range a.call.Positions[at : at+a.call.Counts[r]] {
			row.Positions = append(row.Positions, int(l)+a.shift)
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
