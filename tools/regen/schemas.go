package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/cmd/mdmgen/app"
	"mdmgen/samplers/catalog"
	"mdmgen/tools/internal/fatal"
)

// written maps types that marshal themselves to their schemas.
var written = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[estimate.Number]():   {AnyOf: []*jsonschema.Schema{{Type: "number"}, {Enum: []any{"inf", "-inf", nil}}}},
	reflect.TypeFor[catalog.Theta]():     {AnyOf: []*jsonschema.Schema{{Type: "number"}, {Const: "inf"}}},
	reflect.TypeFor[bench.Fields]():      {Type: "object", Description: "the options in force, by name"},
	reflect.TypeFor[estimate.Estimate](): {Ref: "#/$defs/estimate.Form"},
	reflect.TypeFor[report.Value]():      {Ref: "#/$defs/report.ValueForm"},
}

// forms maps types that refer to a definition to the types in whose form they are marshaled.
var forms = map[reflect.Type]any{reflect.TypeFor[estimate.Estimate](): estimate.Form{}, reflect.TypeFor[report.Value](): report.ValueForm{}}

// writeSchemas writes the schemas of all records into a folder. It runs in the root.
func writeSchemas(dir string) {
	var r schemas
	r.Anonymous, r.ExpandedStruct, r.AllowAdditionalProperties = true, true, true
	r.Mapper, r.Namer = r.mapped, typeName
	info, _ := debug.ReadBuildInfo()
	fatal.Check(r.AddGoComments(info.Main.Path, "."))
	fatal.Check(os.MkdirAll(dir, 0o777))
	for key, text := range r.CommentMap {
		r.CommentMap[key] = strings.Join(strings.Fields(text), " ")
	}
	for name, record := range app.Records {
		r.types = nil
		s := r.Reflect(record)
		for t, form := range forms {
			if !slices.Contains(r.types, t) {
				continue
			}
			def := r.Reflect(form)
			def.Version, def.Definitions = "", nil
			s.Definitions[typeName(reflect.TypeOf(form))] = def
		}
		r.adjust(s, reflect.TypeOf(record))
		for _, t := range r.types {
			r.adjust(s.Definitions[typeName(t)], t)
		}
		s.Title = "mdmgen." + name + "/1"
		if _, ok := s.Properties.Get("schema"); ok {
			s.Properties.Set("schema", &jsonschema.Schema{Const: s.Title})
		}
		data := fatal.Must(json.MarshalIndent(s, "", " "))
		fatal.Check(os.WriteFile(filepath.Join(dir, name+".schema.json"), append(data, '\n'), 0o644))
	}
}

// typeName returns a type's name among the definitions, "" for an unnamed type.
func typeName(t reflect.Type) string {
	if t.Name() == "" || t.PkgPath() == "" {
		return t.Name()
	}
	return filepath.Base(t.PkgPath()) + "." + t.Name()
}

// schemas reflects the types of records.
type schemas struct {
	jsonschema.Reflector
	// types lists the types in a record.
	types []reflect.Type
}

// mapped returns the schema of a type that marshals itself, nil for others.
func (r *schemas) mapped(t reflect.Type) *jsonschema.Schema {
	r.types = append(r.types, t)
	if s := written[t]; s != nil {
		clone := *s
		return &clone
	}
	if t == reflect.TypeFor[[]*int]() { // ids, null for remaining masks
		return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "integer"}, {Type: "null"}}}}
	}
	plain := []reflect.Type{reflect.TypeFor[likelihood.Corpus](), reflect.TypeFor[json.RawMessage]()}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) && !slices.Contains(plain, t) {
		log.Fatalf("schemas: %s marshals itself: add its schema", t)
	}
	return nil
}

// adjust allows null for pointer fields without omitempty, and names perplexities as
// [likelihood.Corpus] marshals them.
func (r *schemas) adjust(s *jsonschema.Schema, t reflect.Type) {
	if s == nil || t.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if p, ok := s.Properties.Get(name); ok && f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit") {
			s.Properties.Set(name, &jsonschema.Schema{Description: p.Description, AnyOf: []*jsonschema.Schema{p, {Type: "null"}}})
		}
	}
	if t == reflect.TypeFor[likelihood.Corpus]() {
		s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name == "perplexity_bound" })
		for _, name := range []string{"perplexity", "word_perplexity", "byte_perplexity"} {
			s.Properties.Set(name, &jsonschema.Schema{Ref: "#/$defs/estimate.Form", Description: "in the place of " + name + "_bound where the windows' values are no bounds"})
		}
	}
}
