package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mdmgen/internal/fault"
	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/serve/frame"
)

// line holds the fields of a request that [requests.Parse] reads.
type line fields

// keys returns the keys other than those of a canvas, which most routes have in forms of their own.
func (l *line) keys() []string {
	_, others := requests.Keys()
	return others
}

// settings takes the fields of a request that are not its own. Without a seed, or with −1, it adds a
// random one, which all its canvases share.
func (l *line) settings(rest fields) error {
	if err := rename(rest); err != nil {
		return err
	}
	if *l = line(rest); rest["seed"] == nil || string(rest["seed"]) == "-1" {
		rest["seed"] = strconv.AppendUint(nil, rand.Uint64()>>11, 10)
	}
	return nil
}

// single returns an error for more than one sample.
func (l line) single() error {
	if n := l["n"]; n != nil && string(n) != "1" {
		return refuse(http.StatusBadRequest, "n", "n is 1 here")
	}
	return nil
}

// maxSteps is the maximum number of steps of a request: a grid is in memory.
const maxSteps = 1 << 16

// request parses the line.
func (l line) request(s *Server) (requests.Request, error) {
	text, _ := json.Marshal(l) // Decoded JSON cannot fail.
	r, err := s.requests.Parse(text)
	if err != nil {
		return r, unfit(err)
	}
	if r.Options.Steps > maxSteps {
		return r, refuse(http.StatusBadRequest, "steps", fmt.Sprintf("steps is %d: must be in 1..%d", r.Options.Steps, maxSteps))
	}
	return r, nil
}

// job makes the job of a request. named is the client's name for the number of positions to sample, which is
// at fault if there is no room for fill of them; 0 for none.
func (x *exchange) job(r requests.Request, named string, fill int) (requests.Job, error) {
	j, err := x.s.requests.Job(x.r.Context(), r)
	switch wrong, ok := errors.AsType[*requests.Error](err); {
	case err == nil:
	case ok && wrong.Given != nil && fill > 0:
		most, what := x.s.Model.Facts().Length, "give less"
		if *wrong.Given < most {
			what = fmt.Sprintf("it must be at most %d", most-*wrong.Given)
		}
		err = refuse(http.StatusBadRequest, named, fmt.Sprintf("%s is %d: the model takes canvases of at most %d positions, and %d are given: %s", named, fill, most, *wrong.Given, what))
	default:
		err = cmp.Or(x.r.Context().Err(), unfit(err))
	}
	return j, err
}

// unfit returns the Refusal for the error of a request.
func unfit(err error) error {
	wrong := new(requests.Error)
	_ = errors.As(err, &wrong) // else it has no field
	return invalid(wrong.Field, fault.Spelled(err, func(fault.Term) string { return "the prompt of /v1/completions or /api/generate" }))
}

// GenerateRequest is what [requests.Parse] reads, with options for the answer.
type GenerateRequest struct {
	// Model is the name of the model. It may be omitted.
	Model string `json:"model,omitempty"`
	// Stream sends samples as they finish, Diffusing also their frames.
	Stream    bool `json:"stream,omitempty"`
	Diffusing bool `json:"diffusing,omitempty"`
	// Record adds the settings that the samples depend on, and their provenance.
	Record bool `json:"record,omitempty"`
	line   `json:"-"`
}

func (q *GenerateRequest) keys() []string { return slices.Concat(requests.Keys()) }

// Generated holds finished samples, each a [requests.Sample]. In a stream each event has a frame or a
// sample, and the last one the rest.
type Generated struct {
	Frame   *frame.Frame `json:"frame,omitempty"`
	Sample  any          `json:"sample,omitempty"`
	Samples []any        `json:"samples,omitempty"`
	Record  any          `json:"record,omitempty"`
	*Meta
}

func (s *Server) generate(x *exchange, q *GenerateRequest) (*Generated, error) {
	r, err := q.request(s)
	if err != nil {
		return nil, err
	}
	j, err := x.job(r, "", 0)
	if err != nil {
		return nil, err
	}
	jobs := []requests.Job{j}
	if err := x.begin(jobs); err != nil {
		return nil, err
	}
	x.stream = q.Stream
	printer := requests.Printer{Words: s.Words, Mask: s.Model.Facts().MaskID}
	samples := make([]any, j.N)
	err = x.fill(jobs, 0, q.Diffusing, func(step samplers.Step, frames []frame.Frame) error {
		for _, f := range frames {
			if err := x.send(Generated{Frame: &f}); err != nil {
				return err
			}
		}
		if step.Result == nil {
			return nil
		}
		sample, err := printer.Sample(&j, *step.Result)
		if err != nil {
			return err
		}
		samples[step.Index] = sample
		return x.send(Generated{Sample: sample})
	})
	out := &Generated{Meta: x.made(x.meta.Timings.PredictedN)}
	if q.Record {
		out.Record = map[string]any{"provenance": s.Provenance, "settings": s.requests.Settings(&j)} // as generate's begins
	}
	if !q.Stream {
		out.Samples = samples
	}
	return out, err
}

// constraints maps the names of constraints in other servers to the keys of a request.
var constraints = map[string]string{"guided_regex": "regex", "guided_choice": "choices", "guided_json": "json_schema", "response_format": "json_schema"}

// neutral lists fields of other servers' clients with the values at which they have no effect, in JSON;
// other values are refused. The fields without values never have an effect here.
var neutral = map[string][]string{
	"frequency_penalty": {"0"}, "presence_penalty": {"0"}, "repetition_penalty": {"1"}, "best_of": {"1"}, "logit_bias": {"{}"}, "min_p": {"0"}, "min_tokens": {"0"}, "top_k": {"-1", "0"},
	"stop_token_ids": {"[]"}, "tools": {"[]"}, "tool_choice": {`"none"`, `"auto"`}, "parallel_tool_calls": {"true", "false"}, "service_tier": {`"auto"`, `"default"`}, "store": {"false", "true"},
	"ignore_eos": {"false"}, "skip_special_tokens": {"true"}, "add_special_tokens": {"true"}, "add_generation_prompt": {"true"}, "use_beam_search": {"false"}, "cache_prompt": {"true", "false"}, "modalities": {`["text"]`},
	"images": {"[]"}, "template": {`""`}, "context": {"[]"}, "think": {"false"}, "repeat_penalty": {"1"}, "typical_p": {"1"}, "mirostat": {"0"}, "keep_alive": nil, "num_ctx": nil, "num_keep": nil, "num_batch": nil,
	"num_gpu": nil, "main_gpu": nil, "num_thread": nil, "use_mmap": nil, "repeat_last_n": nil,
	"functions": {"[]"}, "function_call": {`"none"`, `"auto"`}, "prompt_cache_retention": nil,
	"user": nil, "metadata": nil, "prompt_cache_key": nil, "safety_identifier": nil, "verbosity": nil,
}

// rename gives constraints the keys of a request, and removes fields without effect. It refuses what
// other servers have and this one has not.
func rename(f fields) error {
	if string(f["continue_final_message"]) == "true" {
		delete(f, "add_generation_prompt") // which other servers want to be false then
	}
	_, own := requests.Keys()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		values, known := neutral[name]
		value := jsontext.Value(slices.Clone(f[name]))
		_ = value.Canonicalize() // It is JSON.
		switch {
		case known && (values == nil || slices.Contains(values, string(value))):
			delete(f, name)
		case name == "grammar", name == "guided_grammar":
			return refuse(http.StatusBadRequest, name, name+": grammars are not supported: give regex, choices or json_schema")
		case known && !slices.Contains(own, name):
			return refuse(http.StatusBadRequest, name, fmt.Sprintf("%s is not supported: leave it out, or at %s", name, strings.Join(values, " or ")))
		}
	}
	if raw, ok := f["response_format"]; ok {
		var format struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Name, Description, Strict, Schema json.RawMessage
			} `json:"json_schema"`
		}
		err := into(raw, reflect.ValueOf(&format).Elem())
		if errors.As(err, new(*Refusal)) {
			return refuse(http.StatusBadRequest, "response_format", "response_format: "+err.Error())
		}
		if err != nil || format.Type != "text" && (format.Type != "json_schema" || format.JSONSchema.Schema == nil) {
			return refuse(http.StatusBadRequest, "response_format", fmt.Sprintf("response_format is of type %q: must be text, or json_schema with json_schema.schema", format.Type))
		}
		if format.Type == "text" {
			format.JSONSchema.Schema = nil
		}
		f["response_format"] = format.JSONSchema.Schema
	}
	for _, name := range slices.Sorted(maps.Keys(constraints)) {
		key := constraints[name]
		if value := f[name]; value != nil {
			if f[key] != nil {
				return refuse(http.StatusBadRequest, name, fmt.Sprintf("%s gives %s again: give one of them", name, key))
			}
			f[key] = value
		}
		delete(f, name)
	}
	return nil
}
