// Package requests turns what a person asks for into jobs of an engine. A [Request] has a canvas in
// one of several forms, the number of samples, a seed, a sampler with its options, and patterns. The
// command line, JSON lines ([Parse]) and HTTP requests become one; a [Builder] checks it by the rules
// of a model, and makes a [Job] of it.
package requests

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mdmgen/model"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/spread"
	"mdmgen/tokenize/chat"
)

// Request is what is asked for. The zero value is a text of the model's length from First-Hitting.
// Of IDs, Infill, and Prefix with Suffix, one may be set. With Messages, Infill, Prefix and Suffix are
// those of the answer.
type Request struct {
	// Prefix and Suffix are the texts before and after the positions to sample.
	Prefix, Suffix *string
	// Infill is a text with gaps: {{N}} is N masks, {{*}} as many as Length leaves, {{NAME:N}} and
	// {{NAME:*}} a gap with a name, {{"text"}} the text of a JSON string.
	Infill *string
	// Start are tokens before Prefix. It excludes Messages, Infill and IDs.
	Start []int
	// IDs are the tokens of a canvas, nil for a position to sample.
	IDs []*int
	// Messages are a chat whose answer is sampled.
	Messages []chat.Message
	// Continue reports whether the last message, the assistant's, is the beginning of the answer.
	Continue bool
	// Kwargs are the values of variables of the chat template.
	Kwargs map[string]any
	Length Length

	// KeepBlank leaves a blank before masks, which otherwise moves into them if the tokenizer begins
	// words with it.
	KeepBlank bool

	// N is the number of samples; 0 is the default. Seed is nil for the default.
	N    int
	Seed *uint64
	// Options are the sampler and its options, of which Set lists the names of those that the request
	// sets; the others have their defaults.
	Options catalog.Options
	Set     []string
	// Calls reports whether steps was given as calls. It selects spread if no sampler is named and the
	// default has no groups; the steps of a sampler without groups follow from the canvas.
	Calls bool
	// Patterns are the patterns that the texts must match.
	Patterns []Pattern
}

// Length is the length of a canvas; the zero value means the default.
type Length struct {
	// Total is the number of positions, Fill the number of positions to sample in addition to the
	// given ones. At least one is 0.
	Total, Fill int
	// AtMost makes Fill a maximum: there may be room for fewer. At most 0 leaves nothing to sample.
	AtMost bool
}

// Limits on requests.
const (
	// MaxLength is the maximum length of any canvas.
	MaxLength = 1 << 20
	// MaxSamples is the maximum number of samples, which keeps the indices of the samples of many
	// requests from overflowing.
	MaxSamples = 1 << 40
)

// ParseLength parses a number of positions, or +N for N positions to sample.
func ParseLength(text string) (l Length, err error) {
	number, plus := strings.CutPrefix(text, "+")
	n, err := strconv.ParseUint(number, 10, 32)
	switch {
	case err != nil || n < 1 || n > MaxLength:
		return l, fmt.Errorf("must be in 1..%d, or +N for N positions in addition to the given ones", MaxLength)
	case plus:
		l.Fill = int(n)
	default:
		l.Total = int(n)
	}
	return l, nil
}

// String returns the length in the form that [ParseLength] reads; "" for the default.
func (l Length) String() string {
	switch {
	case l.Fill > 0:
		return fmt.Sprintf("+%d", l.Fill)
	case l.Total > 0:
		return strconv.Itoa(l.Total)
	}
	return ""
}

// Error is the error of an invalid request. Field is the JSON name of the field at fault, "" for
// none or several. Given is the number of given positions if a length leaves no room beside them.
type Error struct {
	Field string
	Err   error
	Given *int
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// over returns the default options, overridden by the request's own. It drops defaults that the
// request's sampler does not use; [catalog.New] rejects a request's own unused options.
func (r *Request) over(base catalog.Options) (catalog.Options, error) {
	out := base
	out.Sampler = cmp.Or(r.Options.Sampler, out.Sampler)
	switch d, _ := catalog.Describe(out.Sampler); {
	case !r.Calls || r.Options.Sampler == "" && d.InGroups():
	case r.Options.Sampler == "":
		out.Sampler = spread.Spread.Name
	case !d.TakesCalls():
		return out, fmt.Errorf("calls: %s has no number of network calls to choose (%s): leave calls out, or use the sampler %s", d.Name, d.Calls, spread.Spread.Name)
	}
	for _, p := range out.List() {
		if !slices.Contains(r.Set, p.Name) {
			continue
		}
		p.Clear() // as a guidance of 0 is
		if text := r.Options.Get(p.Name); text != "" {
			if err := p.Set(text); err != nil {
				return out, err
			}
		}
	}
	unused, err := out.Unused()
	if err != nil {
		return out, err
	}
	for _, p := range out.List() {
		if _, idle := unused[p.Name]; idle && !slices.Contains(r.Set, p.Name) {
			p.Clear()
		}
	}
	if !out.Spreads() {
		out.Interactions = nil
	}
	return out, nil
}

// Decoder returns the options for answers to messages. If o names no sampler and the network's facts
// name a decoder, they are that with its settings, changed by what o gives. Sequences then end with the
// token that ends an answer, if the chat template has one.
func Decoder(f model.Facts, words *Words, o catalog.Options) (catalog.Options, error) {
	fields := strings.Fields(f.Decoder)
	if o.Sampler != "" || len(fields) == 0 {
		return o, nil
	}
	base := catalog.Options{Sampler: fields[0]}
	base.BlockLength = f.BlockSize
	for _, setting := range fields[1:] {
		name, value, _ := strings.Cut(setting, "=")
		if err := base.Set(name, value); err != nil {
			return o, wrong("", fmt.Errorf("the model's fact decoder is %q: %w", f.Decoder, err))
		}
	}
	if id, ok := words.End(); ok {
		base.Stop = &id
	}
	given := Request{Options: o}
	for _, p := range o.List() {
		if p.Get() != "" {
			given.Set = append(given.Set, p.Name)
		}
	}
	o, err := given.over(base)
	return o, wrong("", err)
}
