package journal

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Aside is the field of a header that decides no results: which part of a run a file is, say, and
// where it was made. Headers agree whatever it holds.
const Aside = "part"

// Differ names the fields in which two headers differ: those of an object in them as a.b, and those
// of settings, which users know, as they are.
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

// flatten lists the values of an object by their names; lists are values.
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

// decode reads JSON with its numbers as they stand there, which may be too great for a float64.
func decode(raw json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&v) // What is no JSON is null.
	return v
}
