// Package plainjson reads JSON that users write. Its errors are one line about the file: they refer
// to fields, lists and numbers, not to Go types.
package plainjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"

	"mdmgen/internal/plainfile"
)

// Unmarshal is like [json.Unmarshal] with the errors of [Plain] and [Strict].
func Unmarshal(data []byte, v any) error {
	if err := Plain(data, json.Unmarshal(data, v)); err != nil {
		return err
	}
	return Strict(data)
}

// ReadFS reads a JSON file of at most limit bytes from a file system into v. Its errors lack the name.
func ReadFS(fsys fs.FS, name string, limit int64, v any) error {
	data, err := plainfile.ReadFS(fsys, name, limit)
	if err != nil {
		return err
	}
	return Unmarshal(data, v)
}

// Plain turns an error of package encoding/json into one line without the names of types; nil stays
// nil. data is the JSON text, or nil if unavailable; with it, errors name the line.
func Plain(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early")
	case errors.As(err, &syntax):
		if strings.Contains(syntax.Error(), "unexpected end") {
			return errors.New("the JSON ends too early")
		}
		return fmt.Errorf("%snot JSON: %s", at(data, syntax.Offset), line(syntax.Error()))
	case errors.As(err, &kind):
		if kind.Field == "" {
			return fmt.Errorf("%s%s instead of %s", at(data, kind.Offset), given(kind.Value), wanted(kind.Type))
		}
		return fmt.Errorf("%sfield %q: %s instead of %s", at(data, kind.Offset), kind.Field, given(kind.Value), wanted(kind.Type))
	}
	return errors.New(line(strings.TrimPrefix(err.Error(), "json: ")))
}

// at returns a prefix such as "line 3: " for a file of several lines.
func at(data []byte, offset int64) string {
	if offset < 0 || offset > int64(len(data)) || bytes.Count(bytes.TrimSpace(data), []byte("\n")) == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", 1+bytes.Count(data[:offset], []byte("\n")))
}

func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// values describes the Value of a [json.UnmarshalTypeError].
var values = map[string]string{"array": "a list", "object": "an object", "string": "text", "bool": "true or false", "number": "a number"}

// given describes the value in the file: "the number 1.5" if values has no word for it.
func given(value string) string { return cmp.Or(values[value], "the "+line(value)) }

// kinds describes the JSON forms of types, except of pointers and whole numbers.
var kinds = map[reflect.Kind]string{
	reflect.Slice: "a list", reflect.Array: "a list", reflect.Map: "an object", reflect.Struct: "an object",
	reflect.String: "text", reflect.Bool: "true or false", reflect.Float32: "a number", reflect.Float64: "a number",
}

// wanted describes the JSON form of a type.
func wanted(t reflect.Type) string {
	switch k := t.Kind(); {
	case k == reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Int <= k && k <= reflect.Int64:
		return "a whole number"
	case reflect.Uint <= k && k <= reflect.Uint64:
		return "a whole number from 0"
	}
	return cmp.Or(kinds[t.Kind()], "something else")
}
