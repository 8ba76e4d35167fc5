package tokenize

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A parser reads JSON values with exact field names and remembers the first
// fault; after it all methods return zero values.
type parser struct{ err error }

// fail records a fault at a path such as model.vocab.
func (p *parser) fail(path, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s: "+format, append([]any{path}, args...)...)
	}
}

// clip shortens and quotes text of the file for a message of one line.
func clip(s string) string {
	const limit = 80
	if len(s) <= limit {
		return fmt.Sprintf("%q", s)
	}
	n := limit
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%q…", s[:n])
}

func isNull(raw json.RawMessage) bool { return strings.TrimSpace(string(raw)) == "null" }

// value reads raw into a T; want names the JSON type in messages.
func value[T any](p *parser, raw json.RawMessage, path, want string) (v T) {
	if p.err != nil {
		return v
	}
	if isNull(raw) {
		p.fail(path, "null where %s is wanted", want)
		return v
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		var zero T
		var wrong *json.UnmarshalTypeError
		if !errors.As(err, &wrong) {
			p.fail(path, "%v", err)
			return zero
		}
		kind, _, _ := strings.Cut(wrong.Value, " ")
		p.fail(path, "%s where %s is wanted", kind, want)
		return zero
	}
	return v
}

// A section is a JSON object and the path to it.
type section struct {
	p      *parser
	path   string
	fields map[string]json.RawMessage
}

func (p *parser) section(raw json.RawMessage, path string) section {
	return section{p, path, value[map[string]json.RawMessage](p, raw, path, "an object")}
}

// at returns the path of a field.
func (s section) at(key string) string {
	if s.path == "" {
		return key
	}
	return s.path + "." + key
}

// has reports whether a field exists and is not null.
func (s section) has(key string) bool {
	raw, ok := s.fields[key]
	return ok && !isNull(raw)
}

// need returns a field that must exist.
func need[T any](s section, key, want string) (v T) {
	raw, ok := s.fields[key]
	if !ok {
		s.p.fail(s.at(key), "is missing: %s is wanted", want)
		return v
	}
	return value[T](s.p, raw, s.at(key), want)
}

func (s section) text(key string) string { return need[string](s, key, "a string") }

func (s section) flag(key string) bool { return need[bool](s, key, "true or false") }

func (s section) number(key string) int { return need[int](s, key, "a whole number") }

func (s section) list(key string) []json.RawMessage {
	return need[[]json.RawMessage](s, key, "a list")
}

// sub returns a field that is an object.
func (s section) sub(key string) section {
	raw, ok := s.fields[key]
	if !ok {
		s.p.fail(s.at(key), "is missing: an object is wanted")
		return section{p: s.p, path: s.at(key)}
	}
	return s.p.section(raw, s.at(key))
}
