package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/cmd/mdmgen/app"
	"mdmgen/samplers/catalog"
)

// number is a number that may not be finite or not known.
var number = object{"anyOf": []object{{"type": "number"}, {"enum": []any{"inf", "-inf", nil}}}}

// written are types that write themselves: schemas, or types that are written alike.
var written = map[reflect.Type]any{
	reflect.TypeFor[estimate.Number]():   number,
	reflect.TypeFor[catalog.Theta]():     object{"anyOf": []object{{"type": "number"}, {"const": "inf"}}},
	reflect.TypeFor[bench.Fields]():      object{"type": "object", "description": "the options in force, by name"},
	reflect.TypeFor[estimate.Estimate](): reflect.TypeFor[estimate.Form](),
	reflect.TypeFor[report.Value]():      reflect.TypeFor[report.ValueForm](),
	reflect.TypeFor[likelihood.Corpus](): nil,
}

type object = map[string]any

// schemas makes JSON schemas of types and of the comments on their fields.
type schemas struct {
	// comments are those of the fields of a folder's types, by "folder Type Field".
	comments map[string]string
	defs     object
	err      error
}

// writeSchemas writes the schemas of all records into a folder, anew.
func writeSchemas(dir string) error {
	var errs []error
	comments, err := fieldComments("..")
	errs = append(errs, err, os.MkdirAll(dir, 0o777))
	for name, record := range app.Records {
		s := schemas{comments: comments, defs: make(object)}
		out := s.fields(reflect.TypeOf(record))
		out["$schema"] = "https://json-schema.org/draft/2020-12/schema"
		out["title"] = "mdmgen." + name + "/1"
		out["properties"].(object)["schema"] = object{"const": out["title"]}
		out["$defs"] = s.defs
		data, err := json.MarshalIndent(out, "", " ")
		errs = append(errs, s.err, err, os.WriteFile(filepath.Join(dir, name+".schema.json"), append(data, '\n'), 0o644))
	}
	return errors.Join(errs...)
}

// fieldComments reads the comments on fields of all structs below a folder.
func fieldComments(root string) (map[string]string, error) {
	out := make(map[string]string)
	files := gotoken.NewFileSet()
	return out, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		ast.Inspect(f, func(n ast.Node) bool {
			t, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if t, ok := t.Type.(*ast.StructType); ok {
				for _, field := range t.Fields.List {
					for _, name := range field.Names {
						out[strings.Join([]string{filepath.ToSlash(folder), n.(*ast.TypeSpec).Name.Name, name.Name}, " ")] = strings.Join(strings.Fields(field.Doc.Text()), " ")
					}
				}
			}
			return true
		})
		return err
	})
}

// of is the schema of a type.
func (s *schemas) of(t reflect.Type) object {
	switch special := written[t].(type) {
	case object:
		return maps.Clone(special)
	case reflect.Type:
		return s.ref(t, special)
	}
	if _, known := written[t]; !known && t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[json.Marshaler]()) {
		s.err = cmp.Or(s.err, fmt.Errorf("schemas: %s writes itself, and nothing says how", t))
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Pointer:
		return nullable(s.of(t.Elem()))
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Struct:
		return s.ref(t, t)
	case reflect.Interface:
		return object{}
	}
	s.err = cmp.Or(s.err, fmt.Errorf("schemas: %s has no schema", t))
	return object{}
}

// ref refers to the schema of a type, which is written as a struct and stands among the
// definitions.
func (s *schemas) ref(t, as reflect.Type) object {
	if t.Name() == "" {
		s.err = cmp.Or(s.err, fmt.Errorf("schemas: %s has no name to be referred to by", t))
		return object{}
	}
	name := filepath.Base(t.PkgPath()) + "." + t.Name()
	if _, ok := s.defs[name]; !ok {
		s.defs[name] = nil
		s.defs[name] = s.fields(as)
	}
	return object{"$ref": "#/$defs/" + name}
}

// nullable allows null, too.
func nullable(o object) object { return object{"anyOf": []object{o, {"type": "null"}}} }

// fields is the schema of a struct; those of structs within it that have no name of their own
// are its own.
func (s *schemas) fields(t reflect.Type) object {
	properties, required := make(object), []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() || f.Anonymous && name == "" {
			continue
		}
		name = cmp.Or(name, f.Name)
		optional := strings.Contains(options, "omit") || name == "perplexity_bound"
		schema := s.of(f.Type)
		if f.Type.Kind() == reflect.Pointer && strings.Contains(options, "omit") {
			schema = s.of(f.Type.Elem())
		}
		if text := s.comments[s.place(t, f)]; text != "" {
			schema["description"] = text
		}
		if properties[name] = schema; !optional {
			required = append(required, name)
		}
	}
	if t == reflect.TypeFor[likelihood.Corpus]() {
		for _, name := range []string{"perplexity", "word_perplexity", "byte_perplexity"} {
			properties[name] = object{"$ref": "#/$defs/estimate.Estimate", "description": "in the place of " + name + "_bound where the windows' values are no bounds"}
		}
	}
	slices.Sort(required)
	return object{"type": "object", "properties": properties, "required": required}
}

// place is where the comment on a field stands.
func (s *schemas) place(t reflect.Type, f reflect.StructField) string {
	for _, i := range f.Index[:len(f.Index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	folder := strings.TrimPrefix(t.PkgPath(), "mdmgen/")
	return strings.Join([]string{folder, t.Name(), f.Name}, " ")
}
