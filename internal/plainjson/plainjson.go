// Package plainjson reads JSON that a user wrote and says what is wrong with it in a
// line that speaks of the file and not of the program: fields, lists and numbers.
package plainjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Unmarshal is [json.Unmarshal] with errors of [Plain] and [Strict].
func Unmarshal(data []byte, v any) error {
	if err := Plain(data, json.Unmarshal(data, v)); err != nil {
		return err
	}
	return Strict(data)
}

// Plain turns an error of package encoding/json into one line without the names of
// types; nil stays nil. data is what was read, nil where it is not at hand: with it,
// the line of a fault is told.
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
			return fmt.Errorf("%s%s stands where %s must be", at(data, kind.Offset), Given(kind.Value), wanted(kind.Type))
		}
		return fmt.Errorf("%sfield %q: %s stands where %s must be", at(data, kind.Offset), kind.Field, Given(kind.Value), wanted(kind.Type))
	}
	return errors.New(line(strings.TrimPrefix(err.Error(), "json: ")))
}

// at is "line 3: " of a file of several lines.
func at(data []byte, offset int64) string {
	if offset < 0 || offset > int64(len(data)) || bytes.Count(bytes.TrimSpace(data), []byte("\n")) == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", 1+bytes.Count(data[:offset], []byte("\n")))
}

func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// Given says what stands in the file in a noun and its article, by the Value of a
// [json.UnmarshalTypeError].
func Given(value string) string {
	switch value {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "number":
		return "a number"
	}
	return "the " + line(value) // "number 1.5"
}

// wanted says what a type is read from.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0"
	}
	return "something else"
}
