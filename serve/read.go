package serve

import (
	"errors"
	"fmt"
	"net/http"

	"mdmgen/analysis/reading"
	"mdmgen/internal/fault"
)

// ReadRequest is a question about a canvas with gaps.
type ReadRequest struct {
	// Model is the name of the model, which may be left out.
	Model string `json:"model,omitempty"`
	reading.Request
}

// ReadAnswer is a canvas, null where it is masked, with what was read there: nothing is written.
type ReadAnswer struct {
	Model string `json:"model"`
	IDs   []*int `json:"ids"`
	*reading.Answer
	SystemFingerprint string `json:"system_fingerprint"`
}

func (s *Server) read(x *exchange, q *ReadRequest) (*ReadAnswer, error) {
	if err := s.named(q.Model); err != nil {
		return nil, err
	}
	question, err := s.question(&q.Request)
	if err != nil {
		return nil, invalid("", err)
	}
	out := &ReadAnswer{Model: s.Name, SystemFingerprint: s.Fingerprint}
	for _, id := range question.Canvas {
		if out.IDs = append(out.IDs, nil); id != s.Model.Facts().MaskID {
			out.IDs[len(out.IDs)-1] = &id
		}
	}
	out.Answer, err = x.reading(question)
	return out, err
}

// question is what a request asks.
func (s *Server) question(q *reading.Request) (out reading.Question, err error) {
	line, err := q.Line()
	if err != nil {
		return out, err
	}
	job, err := s.Job(line, 0)
	if err != nil {
		return out, err
	}
	return q.Question(job.Canvas, s.Model.Facts().MaskID, s.encode)
}

// encode turns a text into ids, every character of it being text.
func (s *Server) encode(text string) ([]int, error) {
	if s.Words == nil {
		return nil, errors.New("the model has no tokenizer: give ids")
	}
	return s.Words.EncodePlain(text)
}

// reading answers a question in the engine's calls.
func (x *exchange) reading(q reading.Question) (*reading.Answer, error) {
	free, err := x.room(reading.Together * len(q.Canvas))
	if err != nil {
		return nil, err
	}
	defer free()
	a, err := reading.Read(x.r.Context(), x.s.engine, x.s.Model.Spec(), q)
	var wrong *fault.Error
	if errors.As(err, &wrong) && wrong.Package == "reading" {
		return nil, invalid("", err)
	}
	if err == nil && x.s.Words != nil {
		a.Spell(x.s.Piece())
	}
	return a, err
}

// room waits until there is room for so many positions, in the order of all requests.
func (x *exchange) room(positions int) (free func(), err error) {
	b := x.s.budget
	if !b.queue.TryAcquire(1) {
		return nil, &Refusal{status: http.StatusTooManyRequests, Message: fmt.Sprintf("%d requests are waiting: try again later", x.s.Queue), Type: "rate_limit_error", Code: "queue_full"}
	}
	defer b.queue.Release(1)
	n := min(int64(positions), b.most)
	if err := b.positions.Acquire(x.r.Context(), n); err != nil {
		return nil, err
	}
	return func() { b.positions.Release(n) }, nil
}
