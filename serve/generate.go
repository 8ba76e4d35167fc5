package serve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"

	"mdmgen/samplers"
	"mdmgen/serve/frame"
)

// line are the fields of a request that a line of --input has: what is given, and the settings of samplers.
type line map[string]json.RawMessage

// settings takes what a request has beside its own fields, and gives it a seed where it has none, so that all its canvases
// have one.
func (l *line) settings(rest map[string]json.RawMessage) error {
	if *l = rest; rest["seed"] == nil {
		rest["seed"] = strconv.AppendUint(nil, rand.Uint64()>>11, 10)
	}
	return rename(rest)
}

// job reads the line with some more fields. A canvas of a network of fixed length has that length, whatever fill is.
func (l line) job(x *exchange, named string, fill int, all map[string]any) (Job, error) {
	s, ctx := x.s, x.r.Context()
	if s.Model.Facts().FixedLength {
		fill = 0
	}
	for name, v := range l {
		if _, ok := all[name]; ok {
			return Job{}, refuse(http.StatusBadRequest, name, "unknown field "+strconv.Quote(name))
		}
		all[name] = v
	}
	text, _ := json.Marshal(all) // Texts, ids and JSON that was read have no error.
	j, err := s.Job(ctx, text, fill)
	if err == nil || ctx.Err() != nil {
		return j, cmp.Or(ctx.Err(), err)
	}
	if fill > 1 {
		if one, failed := s.Job(ctx, text, 1); failed == nil { // It is fill that is wrong.
			return j, s.tooMany(named, fill, len(one.Canvas)-1)
		}
	}
	return j, invalid("", err)
}

// tooMany refuses to sample so many positions beside those that are given.
func (s *Server) tooMany(named string, fill, given int) *Refusal {
	most, what := s.Model.Facts().Length, "give less"
	if given < most {
		what = fmt.Sprintf("it must be at most %d", most-given)
	}
	return refuse(http.StatusBadRequest, named, fmt.Sprintf("%s is %d: the model takes canvases of at most %d positions, and %d are given: %s", named, fill, most, given, what))
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
	line   `json:"-"`
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
	j, err := q.job(x, "", 0, make(map[string]any))
	if err != nil {
		return nil, err
	}
	jobs := []Job{j}
	if err := x.begin(jobs); err != nil {
		return nil, err
	}
	x.stream = q.Stream
	samples := make([]any, j.N)
	err = x.fill(jobs, q.Diffusing, func(step samplers.Step, frames []frame.Frame) error {
		for _, f := range frames {
			if err := x.send(Generated{Frame: &f}); err != nil {
				return err
			}
		}
		if step.Result == nil {
			return nil
		}
		sample, err := j.Sample(*step.Result)
		if err != nil {
			return err
		}
		samples[step.Index] = sample
		return x.send(Generated{Sample: sample})
	})
	out := &Generated{Meta: x.made(x.meta.Timings.PredictedN)}
	if q.Record {
		out.Record = s.Record(j)
	}
	if !q.Stream {
		out.Samples = samples
	}
	return out, err
}

// constraints are the names that clients of other servers have for keys of a line by which texts must match.
var constraints = map[string]string{"guided_regex": "regex", "guided_choice": "choices", "guided_json": "json_schema", "guided_grammar": "grammar", "response_format": "json_schema"}

// neutral are the values of OpenAI's fields that ask for nothing; with others they are refused as unknown. The field user
// says who asks, and changes no answer.
var neutral = map[string]any{"frequency_penalty": 0.0, "presence_penalty": 0.0, "best_of": 1.0}

// rename gives constraints the keys of a line, and takes out what asks for nothing.
func rename(fields map[string]json.RawMessage) error {
	maps.DeleteFunc(fields, func(name string, raw json.RawMessage) bool {
		var value any
		return name == "user" || neutral[name] != nil && json.Unmarshal(raw, &value) == nil && value == neutral[name]
	})
	if raw, ok := fields["response_format"]; ok {
		var format struct {
			Type       string
			JSONSchema struct{ Schema json.RawMessage } `json:"json_schema"`
		}
		if err := json.Unmarshal(raw, &format); err != nil || format.Type != "text" && (format.Type != "json_schema" || format.JSONSchema.Schema == nil) {
			return refuse(http.StatusBadRequest, "response_format", fmt.Sprintf("response_format is of type %q: must be text, or json_schema with json_schema.schema", format.Type))
		}
		fields["response_format"] = format.JSONSchema.Schema
	}
	for name, key := range constraints {
		if value := fields[name]; value != nil {
			if fields[key] != nil {
				return refuse(http.StatusBadRequest, name, fmt.Sprintf("%s gives %s again: give one of them", name, key))
			}
			fields[key] = value
		}
		delete(fields, name)
	}
	return nil
}
