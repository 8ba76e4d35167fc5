package journal

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Aside is the field of a header that does not affect results, such as the part of a run that a
// file holds and where it was made. Headers agree whatever it holds.
const Aside = "part"

// Differ returns the names of the fields in which two headers differ: a.b for those of nested
// objects, and without a prefix for those of settings, which users know.
func Differ(a, b json.RawMessage) (names []string) {
	left, right := make(map[string]string), make(map[string]string)
	flatten(left, "", decode(a))
	flatten(right, "", decode(b))
	for _, pair := range [][2]map[string]string{{left, right}, {right, left}} {
		for name, value := range pair[0] {
			if other, ok := pair[1][name]; (!ok || other != value) && name != Aside && !strings.HasPrefix(name, Aside+".") {
				names = append(names, strings.TrimPrefix(name, "settings."))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// flatten lists the values of an object by name; lists are values.
func flatten(out map[string]string, name string, v any) {
	fields, ok := v.(map[string]any)
	if !ok || len(fields) == 0 {
		text, _ := json.Marshal(v) // It was JSON.
		out[name] = string(text)
		return
	}
	for k, v := range fields {
		if name != "" {
			k = name + "." + k
		}
		flatten(out, k, v)
	}
}

// decode decodes JSON and keeps numbers as text, since they may be too large for a float64.
func decode(raw json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&v) // Invalid JSON is null.
	return v
}
