package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Aside is the field of a header that decides no results: which part of a run a file is, say,
// and where it was made. Headers agree whatever it holds.
const Aside = "part"

// Agree refuses a file whose header is not this one: which fields are unlike is told by their
// names. A file without a header agrees with any.
func (j *Journal) Agree(header any) error {
	if j.header == nil {
		return nil
	}
	now, err := json.Marshal(header)
	if err != nil {
		return j.failed(err)
	}
	// One was read from a file, the other was not: both are compared as they are written.
	if keys := Differ(j.header, now); len(keys) > 0 {
		return j.refuse(0, fmt.Sprintf("was made with other values of %s: give the same, or remove the file", strings.Join(keys, ", ")))
	}
	return nil
}

// Differ names the fields that two headers have unlike: those of an object in them as a.b, and
// those of settings, which users know, as they are.
func Differ(a, b json.RawMessage) []string {
	left, right := make(map[string]string), make(map[string]string)
	flatten(left, "", a)
	flatten(right, "", b)
	unlike := make(map[string]bool)
	for k := range left {
		unlike[k] = left[k] != right[k]
	}
	for k := range right {
		unlike[k] = left[k] != right[k]
	}
	maps.DeleteFunc(unlike, func(name string, other bool) bool {
		return !other || name == Aside || strings.HasPrefix(name, Aside+".")
	})
	var names []string
	for name := range unlike {
		names = append(names, strings.TrimPrefix(name, "settings."))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// flatten lists the values of an object by their names; lists are values.
func flatten(out map[string]string, name string, raw json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || len(fields) == 0 {
		out[name] = canonical(raw)
		return
	}
	for k, v := range fields {
		if name != "" {
			k = name + "." + k
		}
		flatten(out, k, v)
	}
}

// canonical writes JSON with the keys of objects in order and numbers as they stand there.
func canonical(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}
