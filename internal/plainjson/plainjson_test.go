package plainjson

import (
	"encoding/json"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

type target struct {
	N    int
	X    float64
	List []struct{ Name string }
	Map  map[string]bool
}

func TestUnmarshal(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`{"N":1,"X":2.5,"List":[{"Name":"a"}]}`, ""},
		{`{"N":1.5}`, `field "N": the number 1.5 instead of a whole number`},
		{`{"N":"x"}`, `field "N": text instead of a whole number`},
		{`{"X":[1]}`, `field "X": a list instead of a number`},
		{"{\n\"List\":[{\"Name\":3}]}", `line 2: field "List.Name": number instead of text`},
		{`{"List":{}}`, `field "List": an object instead of a list`},
		{`{"Map":{"a":1}}`, `instead of true or false`},
		{`[]`, `a list instead of an object`},
		{`{"N":`, `the JSON ends too early`},
		{``, `the JSON ends too early`},
		{"{\n\n]", `line 3: not JSON: invalid character ']'`},
		{`{} {}`, `not JSON: invalid character '{' after top-level value`},
	} {
		var v target
		err := Unmarshal([]byte(test.in), &v)
		if test.want == "" {
			reftest.OK(t, err, test.in)
			continue
		}
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "a number instead", "number instead"), test.want) {
			t.Errorf("%s: error %v, want %q", test.in, err, test.want)
		}
	}
}

// FuzzUnmarshal checks that errors are one line without Go types.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`{"N":"x","X":[],"List":[{"Name":{}}],"Map":{"a":1e999}}`))
	f.Add([]byte("{\n\"N\": 1e99 }"))
	f.Add([]byte(`{"":[],"":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v target
		err := Unmarshal(data, &v)
		reads := json.Unmarshal(data, new(target)) == nil
		if (err == nil) != (reads && Strict(data) == nil) {
			t.Fatalf("%q: %v", data, err)
		}
		if reads {
			return // Strict's errors quote the file.
		}
		s := err.Error()
		if strings.Contains(s, "\n") || strings.Contains(s, "json:") || strings.Contains(s, "Go ") {
			t.Errorf("%q", s)
		}
	})
}
