package serve

import (
	"encoding/json"
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

// settings takes what a request has beside its own fields, and gives it a seed where it has none, so that all its canvases
// have one.
func (l *line) settings(rest map[string]json.RawMessage) error {
	if l.fields = rest; rest["seed"] == nil {
		rest["seed"] = strconv.AppendUint(nil, rand.Uint64()>>11, 10)
	}
	return rename(rest)
}

// maxSamples bounds the samples of a request.
const maxSamples = 128

// job reads the line with some more fields. A canvas of a network of fixed length has that length, whatever fill is.
func (l *line) job(s *Server, fill int, all map[string]any) (Job, error) {
	if s.Model.Facts().FixedLength {
		fill = 0
	}
	for name, v := range l.fields {
		if _, ok := all[name]; ok {
			return Job{}, refuse(http.StatusBadRequest, name, "unknown field "+strconv.Quote(name))
		}
		all[name] = v
	}
	text, err := json.Marshal(all)
	if err != nil {
		return Job{}, err
	}
	j, err := s.Job(text, fill)
	if err != nil {
		return j, invalid("", err)
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
	j, err := q.job(s, 0, make(map[string]any))
	if err != nil {
		return nil, err
	}
	jobs, to, frames := []Job{j}, &stream{x, q.Stream}, s.frames()
	all, err := x.tally(jobs)
	if err != nil {
		return nil, err
	}
	out := &Generated{Samples: make([]any, j.N)}
	err = x.fill(jobs, to, func(e event) error {
		all.step(e)
		if q.Diffusing {
			for _, f := range frames.Step(e.Step, e.job.Canvas) {
				if err := to.send(Generated{Frame: &f}); err != nil {
					return err
				}
			}
		}
		if e.Result == nil {
			return nil
		}
		r := *e.Result
		r.Index = e.Index
		var err error
		if out.Samples[e.Index], err = j.Sample(r); err != nil {
			return err
		}
		return to.send(Generated{Sample: out.Samples[e.Index]})
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

// frames makes frames of a request's samples, each a sequence of its own.
func (s *Server) frames() *frame.Maker {
	f := &frame.Maker{Mask: s.Model.Facts().MaskID, Begin: time.Now()}
	if s.Words != nil {
		f.Piece = s.Piece()
	}
	return f
}
