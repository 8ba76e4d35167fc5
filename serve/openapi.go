package serve

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"mdmgen/analysis/estimate"
)

// openAPI answers with the OpenAPI document, which is made of the routes.
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) {
	type object = map[string]any
	parts := make(object)
	r := jsonschema.Reflector{Anonymous: true, Mapper: func(t reflect.Type) *jsonschema.Schema {
		if t == reflect.TypeFor[estimate.Number]() {
			return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number"}, {Enum: []any{"inf", "-inf", nil}}}}
		}
		return nil
	}}
	// body is a body of a type.
	body := func(v any) object {
		schema := r.Reflect(v)
		for name, part := range schema.Definitions {
			parts[name] = part
		}
		if _, ok := reflect.New(reflect.TypeOf(v)).Interface().(settings); ok {
			name := reflect.TypeOf(v).Name()
			schema.Definitions[name].AdditionalProperties = nil
			schema.Definitions[name].Description = "Beside these fields: those of a line of mdmgen generate --input, which `mdmgen samplers` describes."
		}
		return object{"application/json": object{"schema": object{"$ref": schema.Ref}}}
	}
	failure := object{"description": "what is wrong", "content": body(Failure{})}
	paths := make(object)
	for _, route := range s.routes {
		answer := object{"description": route.Does}
		if route.Kind != "" {
			answer["content"] = object{route.Kind: object{}}
		} else {
			answer["content"] = body(route.Answer)
		}
		what := object{"summary": route.Does, "responses": object{"200": answer, "default": failure}}
		if route.Request != nil {
			what["requestBody"] = object{"required": true, "content": body(route.Request)}
		}
		if route.Public {
			what["security"] = []object{}
		}
		paths[strings.TrimSuffix(route.Path, "{$}")] = object{strings.ToLower(route.Method): what}
	}
	data, err := json.MarshalIndent(object{
		"openapi": "3.1.0", "info": object{"title": "mdmgen", "version": s.Fingerprint}, "paths": paths,
		"components": object{"schemas": parts, "securitySchemes": object{"key": object{"type": "http", "scheme": "bearer"}}},
		"security":   []object{{"key": []string{}}},
	}, "", " ")
	if err != nil {
		panic(err) // It is made of types of this package.
	}
	_, _ = io.WriteString(w, strings.ReplaceAll(string(data), `"#/$defs/`, `"#/components/schemas/`)) // The client may be gone.
}
