package tokenize

import (
	"encoding/json"
	"fmt"

	"mdmgen/internal/plainjson"
)

// A section is a JSON object of the file. What is read of it after the first fault means nothing.
type section struct{ plainjson.Object }

// fail notes a fault of a field.
func (s section) fail(key, format string, args ...any) {
	s.Fail("%s%s: "+format, append([]any{s.Path, key}, args...)...)
}

// failed reports whether the file has a fault.
func (s section) failed() bool { return s.Err() != nil }

// need returns a field that must be there.
func need[T any](s section, key string) (v T) {
	s.Need(key, &v)
	return v
}

func (s section) text(key string) string { return need[string](s, key) }
func (s section) flag(key string) bool   { return need[bool](s, key) }
func (s section) number(key string) int  { return need[int](s, key) }

// list returns the objects of a list.
func (s section) list(key string) (out []section) {
	for i, fields := range need[[]map[string]json.RawMessage](s, key) {
		out = append(out, section{plainjson.Object{Path: fmt.Sprintf("%s%s[%d].", s.Path, key, i), Fields: fields, Faults: s.Faults}})
	}
	return out
}

// sub returns the object in a field. The faults of one that is missing are its own.
func (s section) sub(key string) section {
	in := s.In(key)
	if !s.Has(key) {
		s.Lack(s.Path + key)
		in.Faults = new(plainjson.Faults)
	}
	return section{in}
}
