package plainjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Strict returns an error for JSON that package encoding/json accepts although readers may differ
// about it: a field that appears twice in an object, bytes that are not UTF-8, and an unpaired
// surrogate in a string (\ud83d alone), which becomes U+FFFD. The error is one line that names the
// field. Strict accepts invalid JSON, which its reader rejects.
func Strict(data []byte) error {
	err := jsontext.NewDecoder(bytes.NewBuffer(data)).SkipValue()
	var fault *jsontext.SyntacticError
	if !errors.As(err, &fault) {
		return nil
	}
	line := at(data, fault.ByteOffset)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return fmt.Errorf("%sfield %.60q appears twice", line, fault.JSONPointer.LastToken())
	}
	var names []string
	for name := range fault.JSONPointer.Tokens() {
		if _, err := strconv.Atoi(name); err != nil { // not an index of a list
			names = append(names, name)
		}
	}
	if names != nil {
		line += fmt.Sprintf("field %.60q: ", strings.Join(names, "."))
	}
	rest := data[min(int(fault.ByteOffset), len(data)):]
	switch text := fault.Err.Error(); {
	case strings.HasPrefix(text, "invalid surrogate pair"):
		return fmt.Errorf("%s%s is half of a character: its other half is missing", line, rest[:min(6, len(rest))])
	case text == "invalid UTF-8":
		return errors.New(line + "the text is not valid UTF-8")
	}
	return nil
}

// StrictFields is like Strict for objects that are read into the fields of a struct, whose names
// package encoding/json matches in any case.
func StrictFields(data []byte) error {
	if err := Strict(data); err != nil {
		return err
	}
	var v any
	_ = json.Unmarshal(data, &v) // Invalid JSON is left to its reader.
	return folded(v)
}

// folded returns an error for names of an object that differ only in case.
func folded(v any) error {
	list, _ := v.([]any)
	if object, ok := v.(map[string]any); ok {
		seen := make(map[string]bool)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if seen[strings.ToLower(name)] {
				return fmt.Errorf("field %.60q appears twice", name)
			}
			seen[strings.ToLower(name)] = true
			list = append(list, object[name])
		}
	}
	for _, x := range list {
		if err := folded(x); err != nil {
			return err
		}
	}
	return nil
}
