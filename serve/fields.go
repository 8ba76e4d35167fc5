package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"mdmgen/internal/plainjson"
	"mdmgen/internal/suggest"
)

// fields are those of a JSON object.
type fields map[string]json.RawMessage

// decode decodes fields into those of a struct, and removes them and those that are null. It returns
// the names of the struct's fields.
func (f fields) decode(to any) (names []string, err error) {
	maps.DeleteFunc(f, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	v := reflect.ValueOf(to).Elem()
	for name, field := range plainjson.FieldsOf(v.Type()) {
		names = append(names, name)
		raw, ok := f[name]
		if !ok {
			continue
		}
		if err := into(raw, v.FieldByIndex(field.Index)); err != nil {
			about := name
			if text := field.Tag.Get("jsonschema_description"); text != "" {
				about += " must be " + text
			}
			return nil, refuse(http.StatusBadRequest, name, about+": "+plainjson.Plain(nil, err).Error())
		}
		delete(f, name)
	}
	return names, nil
}

// only returns an error for the first field that is not one of the names, in which _ may stand for -.
// more ends the list of names in the message.
func (f fields) only(names []string, more string, others ...string) error {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if slices.Contains(others, strings.ReplaceAll(name, "-", "_")) {
			continue
		}
		return invalid(name, suggest.Key(name, names, more, others...))
	}
	return nil
}

// maxObjects is the maximum number of objects in a list.
const maxObjects = 1024

// into decodes a value as package json does, but refuses fields that a struct does not have.
func into(raw []byte, to reflect.Value) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(to.Addr().Interface()); err != nil {
		return err
	}
	if to.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Struct && to.Len() > maxObjects {
		return refuse(http.StatusBadRequest, "", fmt.Sprintf("%d objects are given: at most %d are allowed", to.Len(), maxObjects))
	}
	return nil
}
