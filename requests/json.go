package requests

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/plainjson"
	"mdmgen/internal/suggest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
	"mdmgen/tokenize/chat"
)

// canvasKeys are the keys of a request in JSON that define its canvas, and keys those other than
// settings.
var canvasKeys = []string{"prefix", "suffix", "length", "infill", "ids", "messages", "continue_final_message", "chat_template_kwargs"}
var keys = append(slices.Clone(canvasKeys), patternKinds...)

// Keys returns the keys of a request in JSON: those of its canvas, and the others, with _ for -.
func Keys() (canvas, others []string) {
	return slices.Clone(canvasKeys), append(strings.Fields(strings.ReplaceAll(strings.Join(settings(), " "), "-", "_")), patternKinds...)
}

// Parse parses a request in JSON: an object with prefix and suffix, infill (a text, or a list of
// texts, numbers of masks, and null for the rest) or ids (null for a position to sample); messages with
// continue_final_message and chat_template_kwargs; length, n, seed, sampler, calls, keep_blank and the options of samplers, in which _ may stand for -; and
// regex, json_schema and choices. A null field is as good as none. n is at most maxN; 0 is
// [MaxSamples]. Every error is an [*Error].
func Parse(object []byte, maxN int) (Request, error) {
	var r Request
	if field, err := r.parse(object, cmp.Or(maxN, MaxSamples)); err != nil {
		return Request{}, &Error{Field: field, Err: err}
	}
	return r, nil
}

// parse parses a request with at most most samples. field is the one at fault, if any.
func (r *Request) parse(object []byte, most int) (field string, err error) {
	if len(object) == 0 || object[0] != '{' {
		return "", errors.New(`not a request: expected a JSON object, such as {"prefix":"Once upon a time"}`)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return "", fmt.Errorf("not a request: %w", plainjson.Plain(nil, err))
	}
	if err := plainjson.StrictFields(object); err != nil {
		return "", err
	}
	maps.DeleteFunc(all, func(key string, raw json.RawMessage) bool {
		known := slices.Contains(keys, strings.ToLower(key)) || slices.Contains(settings(), strings.ReplaceAll(key, "_", "-"))
		return known && string(raw) == "null"
	})
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if err := r.take(key, all, most); err != nil {
			return key, err
		}
	}
	if r.Calls {
		if slices.Contains(r.Set, "steps") || slices.Contains(r.Set, "block-length") {
			return "calls", errors.New("calls excludes steps and block_length: give one of them")
		}
		r.Set = append(r.Set, "steps")
	}
	rest, _ := json.Marshal(all) // Decoded JSON cannot fail.
	return r.canvas(rest)
}

// settings returns the names of the settings.
func settings() []string {
	names := []string{"n", "seed", "sampler", "calls", "keep-blank"}
	for _, o := range new(catalog.Options).List() {
		names = append(names, o.Name)
	}
	return names
}

// take parses a setting, of which n is at most most, or a pattern, and removes it from all.
func (r *Request) take(key string, all map[string]json.RawMessage, most int) (err error) {
	raw := all[key]
	if slices.Contains(patternKinds, key) {
		patterns, err := readPatterns(key, raw)
		r.Patterns = append(r.Patterns, patterns...)
		delete(all, key)
		return err
	}
	name := strings.ReplaceAll(key, "_", "-")
	switch {
	case !slices.Contains(settings(), name):
		if slices.Contains(keys, strings.ToLower(key)) {
			return nil
		}
		return suggest.Key(key, keys, " and the settings of samplers", settings()...)
	case slices.Contains(r.Set, name):
		return fmt.Errorf("field %q appears twice, with - and with _", key)
	}
	text := plainText(raw)
	switch name {
	case "n":
		r.N, err = whole(text, most)
	case "seed":
		var seed uint64
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			err = errors.New("must be a whole number in 0..2^64-1")
		}
		r.Seed = &seed
	case "sampler":
		d, ok := catalog.Describe(text)
		if r.Options.Sampler = d.Name; !ok || text == "" {
			err = fmt.Errorf("must be one of %s%s", strings.Join(catalog.Names(), ", "), suggest.Ending(text, catalog.Names()))
		}
	case "keep-blank":
		if r.KeepBlank, err = strconv.ParseBool(text); err != nil {
			err = errors.New("must be true or false")
		}
	case "calls":
		r.Calls = true
		r.Options.Steps, err = whole(text, schedule.MaxSteps)
	default:
		for _, o := range r.Options.List() {
			if o.Name == name {
				if o.Set(text) != nil {
					err = fmt.Errorf("must be %s%s", o.Form(), suggest.Ending(text, o.Words))
				}
				r.Set = append(r.Set, name)
			}
		}
	}
	delete(all, key)
	if err != nil {
		return fmt.Errorf("%s is %.40s: %w", key, raw, err)
	}
	return nil
}

// whole parses a whole number in 1..most.
func whole(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("must be in 1..%d", most)
	}
	return n, nil
}

// plainText returns a JSON value in the form in which a setting is typed: a string without its
// quotes, a list with commas, anything else unchanged.
func plainText(raw json.RawMessage) string {
	var text string
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []json.Number
	if json.Unmarshal(raw, &list) == nil && list != nil {
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ",")
	}
	return string(raw)
}

// canvas parses the fields of the canvas.
func (r *Request) canvas(rest []byte) (field string, err error) {
	var in struct {
		Prefix   *string         `json:"prefix"`
		Suffix   *string         `json:"suffix"`
		Length   json.RawMessage `json:"length"`
		Infill   json.RawMessage `json:"infill"`
		IDs      json.RawMessage `json:"ids"`
		Messages []chat.Message  `json:"messages"`
		Continue bool            `json:"continue_final_message"`
		Kwargs   map[string]any  `json:"chat_template_kwargs"`
	}
	d := json.NewDecoder(bytes.NewReader(rest))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return "", fmt.Errorf("not a request: %w", plainjson.Plain(nil, err))
	}
	r.Prefix, r.Suffix, r.Messages, r.Continue, r.Kwargs = in.Prefix, in.Suffix, in.Messages, in.Continue, in.Kwargs
	if in.Length != nil {
		text := plainText(in.Length)
		n, failed := strconv.Atoi(text)
		if r.Length.Total = n; strings.HasPrefix(text, "+") {
			r.Length, failed = ParseLength(text)
		}
		if failed != nil || n < 1 {
			return "length", fmt.Errorf("length %.40s: must be at least 1, or \"+N\" for N positions in addition to the given ones", in.Length)
		}
	}
	if in.IDs != nil {
		if in.Length != nil {
			return "ids", errIDs
		}
		if err := json.Unmarshal(in.IDs, &r.IDs); err != nil || r.IDs == nil {
			return "ids", errors.New("ids must be a list of ids, null for a position to be sampled")
		}
	}
	if in.Infill != nil {
		text, err := template(in.Infill)
		if r.Infill = &text; err != nil {
			return "infill", err
		}
	}
	return "", nil
}

// template returns a template in the form of a text. In the form of a list, of texts and of numbers
// of masks, text is never ambiguous.
func template(raw json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var list []any
	if err := json.Unmarshal(raw, &list); err != nil {
		return "", errors.New("infill must be a text or a list of texts and numbers of masks")
	}
	var b strings.Builder
	for i, v := range list {
		switch v := v.(type) {
		case string:
			quoted, _ := json.Marshal(v) // A text cannot fail.
			fmt.Fprintf(&b, "{{%s}}", quoted)
		case float64:
			if !(v >= 1 && v <= maxMasks) || v != math.Trunc(v) {
				return "", fmt.Errorf("infill[%d] is %v: a number of masks must be a whole number from 1 to the positions that the model takes, %d at most", i, v, MaxLength)
			}
			fmt.Fprintf(&b, "{{%d}}", int(v))
		case nil:
			b.WriteString("{{*}}")
		default:
			return "", fmt.Errorf("infill[%d] must be a text, a number of masks, or null for the rest", i)
		}
	}
	return b.String(), nil
}
