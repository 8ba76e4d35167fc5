package plainjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Object is a JSON object whose fields are read one by one. Objects in its fields share its faults.
type Object struct {
	// Path precedes the names of fields in messages: the name of the field that holds the object, and
	// a dot; "" for the outermost object.
	Path   string
	Fields map[string]json.RawMessage
	*Faults
}

// Faults holds the first fault of an object, the paths of its missing fields, and those of the
// fields that were asked for.
type Faults struct {
	first   error
	missing []string
	asked   map[string]bool
}

// NewObject returns an object without faults.
func NewObject(fields map[string]json.RawMessage) Object {
	return Object{Fields: fields, Faults: new(Faults)}
}

// Fail records a fault, unless a fault or a missing field was recorded before.
func (f *Faults) Fail(format string, args ...any) {
	if f.Err() == nil {
		f.first = fmt.Errorf(format, args...)
	}
}

// Lack records a missing field.
func (f *Faults) Lack(path string) { f.missing = append(f.missing, path) }

// Err returns the first fault, else an error that lists the missing fields, else nil.
func (f *Faults) Err() error {
	if f.first == nil && f.missing != nil {
		return fmt.Errorf("missing: %s", strings.Join(f.missing, ", "))
	}
	return f.first
}

// Has reports whether a field exists and is not null.
func (o Object) Has(name string) bool {
	if o.asked == nil {
		o.asked = make(map[string]bool)
	}
	o.asked[o.Path+name] = true
	raw, ok := o.Fields[name]
	return ok && string(bytes.TrimSpace(raw)) != "null"
}

// Unread returns the names of the fields that were not asked for, sorted.
func (o Object) Unread() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(o.Fields)), func(name string) bool { return o.asked[o.Path+name] })
}

// FieldsOf yields the exported fields of a struct, and of those embedded in it, by their names in JSON.
func FieldsOf(t reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name = cmp.Or(name, strings.ToLower(f.Name)); name != "-" && !f.Anonymous && f.IsExported() && !yield(name, f) {
				return
			}
		}
	}
}

// May reads an optional field and reports whether [Object.Has] it.
func (o Object) May(name string, to any) bool {
	if !o.Has(name) {
		return false
	}
	if err := json.Unmarshal(o.Fields[name], to); err != nil {
		o.Fail("field %q: %w", o.Path+name, Plain(nil, err))
	}
	return true
}

// Need reads a required field.
func (o Object) Need(name string, to any) {
	if !o.May(name, to) {
		o.Lack(o.Path + name)
	}
}

// In returns the object in a field, without fields if the field is missing.
func (o Object) In(name string) Object {
	in := Object{Path: o.Path + name + ".", Faults: o.Faults}
	o.May(name, &in.Fields)
	return in
}
