package plainjson

import (
	"encoding/json"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

func TestStrict(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1,"b":{"a":2},"c":[{"a":1},{"a":2}]}`: "",
		`{"a":{},"a":[]}`:                     `field "a" appears twice`,
		`{"x":[1,{"b":1,"c":{"d":1},"b":2}]}`: `field "b" appears twice`,
		`{"a":1,"\u0061":2}`:                  `field "a" appears twice`,
		`{"a":1,"A":2}`:                       "",
		`{"text":"\ud83d\ude00 \\ud83d \n"}`:  "",
		`{"text":"x\ud83d"}`:                  `field "text": \ud83d is half of a character`,
		`{"text":"\uDE00\ud83d"}`:             `field "text": \uDE00 is half`,
		`{"text":"\ud83d\ud83d\ude00"}`:       `\ud83d is half`,
		`{"a":{"b":["x","\udfff"]}}`:          `field "a.b": \udfff is half`,
		`{"\ud800":1}`:                        `\ud800 is half`,
		"[\n\"\\ud800\"]":                     `\ud800 is half`,
		`"\\\ud800"`:                          `\ud800 is half`,
		`{"a":"a","b":"a"}`:                   "",
		"{\"a\":\"\xff\"}":                    `field "a": the text is not valid UTF-8`,
		`{"a":"\u0000\uffff"}`:                "",
		`{"a":`:                               "",
		`[}`:                                  "",
		`"\ud80`:                              "",
	} {
		err := Strict([]byte(in))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	reftest.Fails(t, StrictFields([]byte(`{"text":1,"Text":2}`)), "", "a struct's field is given twice, in two cases")
	var v any
	reftest.Fails(t, Unmarshal([]byte(`{"a":1,"a":2}`), &v), "", "Unmarshal reads a field twice")
}

// FuzzStrict checks that nothing panics, and that valid JSON keeps its strings.
func FuzzStrict(f *testing.F) {
	f.Add([]byte(`{"a":"\ud83d\ude00","b":[{"c":null}]}`))
	f.Add([]byte(`"\ud83d`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if Strict(data) != nil || json.Unmarshal(data, &v) != nil || strings.Contains(strings.ToLower(string(data)), "fffd") || strings.ContainsRune(string(data), '\ufffd') {
			return
		}
		if text, ok := v.(string); ok && strings.ContainsRune(text, '\ufffd') && json.Valid(data) && strings.ToValidUTF8(string(data), "") == string(data) {
			t.Errorf("%q is read as %q", data, text)
		}
	})
}
