package serve

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"mdmgen/serve/frame"
)

// line are the fields of a request that a line of --input has: what is given, and the settings of samplers.
type line struct {
	fields map[string]json.RawMessage
}

func (l *line) settings(rest map[string]json.RawMessage) { l.fields = rest }

// seeded gives the line a seed where it has none, so that all canvases of a request have one.
func (l *line) seeded() {
	if l.fields == nil {
		l.fields = make(map[string]json.RawMessage)
	}
	if _, ok := l.fields["seed"]; !ok {
		l.fields["seed"] = strconv.AppendUint(nil, rand.Uint64()>>11, 10)
	}
}

// maxSamples bounds the samples of a request.
const maxSamples = 128

// job reads the line with some more fields.
func (l *line) job(s *Server, fill int, more map[string]any) (Job, error) {
	all := maps.Clone(l.fields)
	for name, v := range more {
		if _, ok := all[name]; ok {
			return Job{}, refuse(http.StatusBadRequest, name, "unknown field "+strconv.Quote(name))
		}
		text, err := json.Marshal(v)
		if err != nil {
			return Job{}, err
		}
		all[name] = text
	}
	text, err := json.Marshal(all)
	if err != nil {
		return Job{}, err
	}
	j, err := s.Job(text, fill)
	switch {
	case err != nil:
		return j, invalid("", err)
	case j.N > maxSamples:
		return j, refuse(http.StatusBadRequest, "n", "n is "+strconv.Itoa(j.N)+": at most "+strconv.Itoa(maxSamples)+" samples a request")
	}
	return j, nil
}

// GenerateRequest is a line of `mdmgen generate --input` with how it is answered.
type GenerateRequest struct {
	// Model is the name of the model, which may be left out.
	Model string `json:"model,omitempty"`
	// Stream has samples sent as they are finished, Diffusing their frames too.
	Stream    bool `json:"stream,omitempty"`
	Diffusing bool `json:"diffusing,omitempty"`
	// Record adds the settings that the samples depend on, and what made them.
	Record bool `json:"record,omitempty"`
	line
}

// Generated are finished samples, as `mdmgen generate --format jsonl` prints them. In a stream each event has
// a frame or a sample, and the last the rest.
type Generated struct {
	Frame   *frame.Frame `json:"frame,omitempty"`
	Sample  any          `json:"sample,omitempty"`
	Samples []any        `json:"samples,omitempty"`
	Record  any          `json:"record,omitempty"`
	*Meta
}

func (s *Server) generate(x *exchange, q *GenerateRequest) (*Generated, error) {
	if err := s.named(q.Model); err != nil {
		return nil, err
	}
	q.seeded()
	j, err := q.job(s, 0, nil)
	if err != nil {
		return nil, err
	}
	jobs, to, frames := []Job{j}, &stream{x, q.Stream}, s.frames()
	all, out := x.tally(jobs), &Generated{Samples: make([]any, j.N)}
	err = x.fill(jobs, to, func(e event) error {
		all.step(e)
		if q.Diffusing {
			for _, f := range frames.of(e) {
				if err := to.send(Generated{Frame: &f}); err != nil {
					return err
				}
			}
		}
		if e.step.Result == nil {
			return nil
		}
		r := *e.step.Result
		r.Index = uint64(e.sample)
		var err error
		if out.Samples[e.sample], err = j.Sample(r); err != nil {
			return err
		}
		return to.send(Generated{Sample: out.Samples[e.sample]})
	})
	all.meta.Usage.CompletionTokens = all.meta.Timings.PredictedN
	out.Meta = all.end()
	if q.Record {
		out.Record = s.Record(j)
	}
	if !q.Stream || err != nil {
		return out, to.end(err)
	}
	out.Samples = nil
	return nil, to.end(to.send(out))
}

// framing makes frames of a request's samples, each a sequence of its own.
type framing struct{ maker frame.Maker }

func (s *Server) frames() *framing {
	f := &framing{frame.Maker{Mask: s.Model.Facts().MaskID, Begin: time.Now()}}
	if s.Words != nil {
		f.maker.Piece = s.Piece()
	}
	return f
}

func (f *framing) of(e event) []frame.Frame {
	e.step.Index = uint64(e.sample)
	return f.maker.Step(e.step, e.job.Canvas)
}

// named refuses the name of another model.
func (s *Server) named(model string) error {
	if model != "" && model != s.Name {
		return &Refusal{status: http.StatusNotFound, Message: "the model is " + s.Name + ", and no other", Type: "invalid_request_error", Param: "model", Code: "model_not_found"}
	}
	return nil
}
