package serve

import (
	"encoding/json"
	"errors"
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
		err := into(raw, v.FieldByIndex(field.Index))
		about, inner := field.Tag.Get("jsonschema_description"), new(Refusal)
		switch {
		case err == nil:
			delete(f, name)
			continue
		case errors.As(err, &inner):
			return nil, refuse(http.StatusBadRequest, name, name+": "+inner.Message)
		case about != "":
			return nil, refuse(http.StatusBadRequest, name, name+" must be "+about)
		}
		return nil, refuse(http.StatusBadRequest, name, name+": "+plainjson.Plain(nil, err).Error())
	}
	return names, nil
}

// fill decodes fields into a struct. It returns an error for the first field that is neither the struct's nor
// one of its settings, in which - may stand for _.
func (f fields) fill(to any) error {
	names, err := f.decode(to)
	if err != nil {
		return err
	}
	more, keys := "", []string(nil)
	if q, ok := to.(settings); ok {
		if err := q.settings(f); err != nil {
			return err
		}
		names, more, keys = append(names, slices.Sorted(maps.Keys(constraints))...), " and the settings of samplers", q.keys()
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(keys, strings.ReplaceAll(name, "-", "_")) {
			return invalid(name, suggest.Key(name, names, more, keys...))
		}
	}
	return nil
}

// maxObjects is the maximum number of objects in a list.
const maxObjects = 1024

// into decodes a value as package json does, but refuses fields that a struct does not have.
func into(raw []byte, to reflect.Value) error {
	_, own := to.Addr().Interface().(json.Unmarshaler)
	switch {
	case !own && to.Kind() == reflect.Struct:
		var f fields
		if err := json.Unmarshal(raw, &f); err != nil {
			return err
		}
		return f.fill(to.Addr().Interface())
	case !own && to.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Struct:
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		if len(list) > maxObjects {
			return refuse(http.StatusBadRequest, "", fmt.Sprintf("%d objects are given: at most %d are allowed", len(list), maxObjects))
		}
		to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
		for i, raw := range list {
			if err := into(raw, to.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	return json.Unmarshal(raw, to.Addr().Interface())
}
