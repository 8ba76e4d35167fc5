package facts

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
)

// maxSidecar is the maximum size of a sidecar file in bytes; it has a handful of fields.
const maxSidecar = 1 << 20

// Decode reads the JSON form of facts into f; fields that the JSON does not name keep f's value.
// Unknown fields and a foreign schema are errors.
func (f *Facts) Decode(data []byte) error {
	if len(data) > maxSidecar {
		return fmt.Errorf("model facts: %d bytes: must be at most %d", len(data), maxSidecar)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	g := *f
	g.Padding, g.Frame = slices.Clone(f.Padding), slices.Clone(f.Frame) // a list is decoded over the existing one
	if err := d.Decode(&g); err != nil {
		return fmt.Errorf("model facts: %w", plainjson.Plain(nil, err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("model facts: more than one JSON value")
	}
	if err := plainjson.StrictFields(data); err != nil {
		return fmt.Errorf("model facts: %w", err)
	}
	if g.Schema != "" && g.Schema != Schema {
		return fmt.Errorf("model facts: schema is %q: this version reads %q", g.Schema, Schema)
	}
	if g.Unstated != nil {
		var told map[string]json.RawMessage
		_ = json.Unmarshal(data, &told) // It was checked above.
		g.Unstated = maps.Clone(g.Unstated)
		maps.DeleteFunc(g.Unstated, func(key string, _ error) bool { return told[key] != nil })
	}
	*f = g
	f.Schema = Schema
	return nil
}

// Tell returns f with the facts in known that the model's files do not state: those in Unstated, and a
// size of blocks if the network has none, or decoder, which replaces the family's; keys and values have the
// form described at Apply.
func (f Facts) Tell(known map[string]string) (Facts, error) {
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if _, unstated := f.Unstated[key]; !unstated && key != "decoder" && (key != "block_size" || f.BlockSize > 0) {
			continue
		}
		var err error
		if f, err = f.with(key, known[key]); err != nil {
			return f, fmt.Errorf("fact %s=%s: %w", key, known[key], err)
		}
	}
	return f, nil
}

// Apply returns f changed by a sidecar file, if its path is not "", and then by single fields, and
// validates the result. The keys of override are the JSON names; values are JSON or, if the field
// is a string, plain text. The digest stays that of the content read, whatever a sidecar states. A
// sidecar may be a pipe.
func Apply(ctx context.Context, f Facts, sidecar string, override map[string]string) (Facts, error) {
	digest := f.Digest
	if sidecar != "" {
		data, err := plainfile.Named(ctx, sidecar, maxSidecar)
		if err != nil {
			return f, fmt.Errorf("sidecar %s: %w", sidecar, err)
		}
		if err := f.Decode(data); err != nil {
			return f, fmt.Errorf("sidecar %s: %w", sidecar, err)
		}
	}
	f.Digest = digest
	for _, key := range slices.Sorted(maps.Keys(override)) {
		if !Known(key) {
			return f, fmt.Errorf("fact %s: unknown or fixed", key)
		}
		g, err := f.with(key, override[key])
		if err != nil {
			return f, fault.Advise("%v: %w", fault.Term{Name: "fact", Value: key + "=" + override[key]}, cmp.Or(errors.Unwrap(err), err))
		}
		f = g
	}
	if err := f.Validate(); err != nil {
		return f, fmt.Errorf("facts: %w", err)
	}
	return f, nil
}

// with returns f with one field set. A value that is valid JSON is first tried as JSON, so that
// numbers and lists need no quotes, and then as plain text.
func (f Facts) with(key, value string) (Facts, error) {
	var first error
	for _, v := range []any{json.RawMessage(value), value} {
		data, err := json.Marshal(map[string]any{key: v})
		if err != nil {
			continue // It is not JSON.
		}
		if err = f.Decode(data); err == nil {
			return f, nil
		}
		first = cmp.Or(first, err)
	}
	return f, first
}

// fixed are the facts that describe what a model is, not how it is used.
var fixed = []string{"schema", "family", "parameters", "dtype", "weights", "digest"}

// Known reports whether key names a fact that may be overridden.
func Known(key string) bool {
	for name := range plainjson.FieldsOf(reflect.TypeFor[Facts]()) {
		if name == key {
			return !slices.Contains(fixed, key)
		}
	}
	return false
}
