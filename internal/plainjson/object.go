package plainjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Object is a JSON object whose fields are read one by one. Objects in its fields share its faults.
type Object struct {
	// Path stands before the names of the fields in messages: that of an object in a field, and a dot.
	Path   string
	Fields map[string]json.RawMessage
	*Faults
}

// Faults are the first fault of an object and the fields that it lacks.
type Faults struct {
	first   error
	missing []string
}

// NewObject is the object of some fields.
func NewObject(fields map[string]json.RawMessage) Object {
	return Object{Fields: fields, Faults: new(Faults)}
}

// Fail notes a fault, where none was noted and nothing is missing.
func (f *Faults) Fail(format string, args ...any) {
	if f.Err() == nil {
		f.first = fmt.Errorf(format, args...)
	}
}

// Lack notes that a field is missing.
func (f *Faults) Lack(path string) { f.missing = append(f.missing, path) }

// Err is the first fault, or else says what is missing; nil where nothing is.
func (f *Faults) Err() error {
	if f.first == nil && f.missing != nil {
		return fmt.Errorf("missing: %s", strings.Join(f.missing, ", "))
	}
	return f.first
}

// Has reports whether a field is there and not null.
func (o Object) Has(name string) bool {
	raw, ok := o.Fields[name]
	return ok && string(bytes.TrimSpace(raw)) != "null"
}

// May reads a field where there is one.
func (o Object) May(name string, to any) bool {
	if !o.Has(name) {
		return false
	}
	if err := json.Unmarshal(o.Fields[name], to); err != nil {
		o.Fail("field %q: %w", o.Path+name, Plain(nil, err))
	}
	return true
}

// Need reads a field that must be there.
func (o Object) Need(name string, to any) {
	if !o.May(name, to) {
		o.Lack(o.Path + name)
	}
}

// In is the object in a field, without fields where there is none.
func (o Object) In(name string) Object {
	in := Object{Path: o.Path + name + ".", Faults: o.Faults}
	o.May(name, &in.Fields)
	return in
}
