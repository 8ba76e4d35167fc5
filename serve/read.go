package serve

import (
	"errors"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/reading"
	"mdmgen/internal/fault"
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
