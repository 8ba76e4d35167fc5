package serve

import (
	"errors"

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
	if err := s.named(q.Model); err != nil {
		return nil, err
	}
	a, err := x.reading(&q.Request)
	if err != nil {
		return nil, err
	}
	return &ReadAnswer{s.Name, a, s.Fingerprint}, nil
}

// reading answers a question in the calls of the engine.
func (x *exchange) reading(r *reading.Request) (*reading.Answer, error) {
	q, err := r.Question(func(line []byte) ([]int, error) {
		job, err := x.s.Job(line, 0)
		return job.Canvas, err
	}, x.s.encode)
	if err != nil {
		return nil, invalid("", err)
	}
	e, free, err := x.evaluator(len(q.Canvas))
	if err != nil {
		return nil, err
	}
	defer free()
	a, err := reading.Read(x.r.Context(), e, q)
	var wrong *fault.Error
	if errors.As(err, &wrong) && wrong.Package == "reading" {
		return nil, invalid("", err)
	}
	if err == nil && x.s.Words != nil {
		a.Spell(x.s.Piece())
	}
	return a, err
}

// encode turns a text into ids, every character of it being text.
func (s *Server) encode(text string) ([]int, error) {
	if s.Words == nil {
		return nil, errors.New("the model has no tokenizer: give ids")
	}
	return s.Words.EncodePlain(text)
}
