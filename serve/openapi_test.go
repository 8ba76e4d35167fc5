package serve

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/reftest"
	"mdmgen/tokenize"
)

var update = flag.Bool("update", false, "write openapi.json")

// routes holds the document's entry of each route: its summary and the types of its bodies, nil for
// none. An answer that is a string is a media type.
var routes = map[string]struct {
	does            string
	request, answer any
}{
	"GET /{$}":                  {"a page on which canvases fill", nil, "text/html"},
	"GET /health":               {"whether the server runs", nil, Health{}},
	"GET /readyz":               {"whether it takes requests", nil, Health{}},
	"GET /v1/models":            {"the model, as OpenAI's clients ask", nil, Models{}},
	"GET /v1/models/{name...}":  {"the model of this name", nil, ModelCard{}},
	"POST /v1/completions":      {"complete a text, as OpenAI's clients ask", CompletionRequest{}, Completion{}},
	"POST /v1/chat/completions": {"answer messages, as OpenAI's clients ask", ChatRequest{}, Completion{}},
	"POST /v1/generate":         {"fill a canvas: a line of mdmgen generate --input", GenerateRequest{}, Generated{}},
	"POST /v1/read":             {"read the gaps of a canvas, and write nothing", ReadRequest{}, ReadAnswer{}},
	"POST /v1/score":            {"how probable a text is", ScoreRequest{}, ScoreAnswer{}},
	"POST /api/chat":            {"answer messages, as Ollama's clients ask", OllamaRequest{}, OllamaAnswer{}},
	"POST /api/generate":        {"complete a text, as Ollama's clients ask", OllamaRequest{}, OllamaAnswer{}},
	"POST /api/show":            {"facts of the model, as Ollama's clients ask", ShowRequest{}, "application/json"},
	"GET /api/tags":             {"the model, as Ollama's clients ask", nil, "application/json"},
	"GET /api/version":          {"the version of Ollama's routes", nil, "application/json"},
	"GET /props":                {"facts of the model, as llama-server's clients ask", nil, Props{}},
	"POST /infill":              {"fill the gap between two texts, as llama-server's clients ask", InfillRequest{}, Infilled{}},
	"POST /tokenize":            {"the ids of a text", TokenizeRequest{}, Tokenized{}},
	"POST /detokenize":          {"the text of ids", Tokenized{}, TokenizeRequest{}},
	"GET /metrics":              {"metrics for Prometheus", nil, "text/plain"},
	"GET /openapi.json":         {"this document", nil, "application/json"},
}

// TestDocument checks that the OpenAPI document has the server's routes, with the fields of their
// types.
func TestDocument(t *testing.T) {
	t.Parallel()
	if has, says := slices.Sorted(maps.Keys(testServer(t).routes)), slices.Sorted(maps.Keys(routes)); !slices.Equal(has, says) {
		t.Errorf("the server has the routes %v, the document %v", has, says)
	}
	made := written(t)
	if *update {
		reftest.OK(t, os.WriteFile("openapi.json", made, 0o644))
	} else if !bytes.Equal(made, document) {
		t.Error("openapi.json is not what the types say: run go generate ./serve, and look at what changes for clients")
	}
}

// written returns the document.
func written(t *testing.T) []byte {
	t.Helper()
	type object = map[string]any
	parts, paths := make(object), make(object)
	r := jsonschema.Reflector{Anonymous: true, Mapper: func(t reflect.Type) *jsonschema.Schema {
		switch {
		case t == reflect.TypeFor[estimate.Number]():
			return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number"}, {Enum: []any{"inf", "-inf", nil}}}}
		case t == reflect.TypeFor[tokenize.IDs]():
			return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "integer"}}
		case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
			return &jsonschema.Schema{} // Fields with several types have descriptions.
		}
		return nil
	}}
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
	for pattern, route := range routes {
		method, path, _ := strings.Cut(pattern, " ")
		failure := object{"description": "what is wrong", "content": body(Failure{})}
		if strings.HasPrefix(path, "/api/") {
			failure["content"] = body(OllamaFailure{})
		}
		path = strings.ReplaceAll(strings.TrimSuffix(path, "{$}"), "...}", "}")
		answer := object{"description": route.does}
		if kind, ok := route.answer.(string); ok {
			answer["content"] = object{kind: object{}}
		} else {
			answer["content"] = body(route.answer)
		}
		what := object{"summary": route.does, "responses": object{"200": answer, "default": failure}}
		if route.request != nil {
			what["requestBody"] = object{"required": true, "content": body(route.request)}
		}
		if slices.Contains(open, path) {
			what["security"] = []object{}
		}
		paths[path] = object{strings.ToLower(method): what}
	}
	data, err := json.MarshalIndent(object{
		"openapi": "3.1.0", "info": object{"title": "mdmgen", "version": "1"}, "paths": paths,
		"components": object{"schemas": parts, "securitySchemes": object{"key": object{"type": "http", "scheme": "bearer"}}},
		"security":   []object{{"key": []string{}}},
	}, "", " ")
	reftest.OK(t, err)
	return append(bytes.ReplaceAll(data, []byte(`"#/$defs/`), []byte(`"#/components/schemas/`)), '\n')
}
