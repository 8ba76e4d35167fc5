package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// constraints are the names that clients of other servers have for keys of a line by which texts must match.
var constraints = map[string]string{"guided_regex": "regex", "guided_choice": "choices", "guided_json": "json_schema", "guided_grammar": "grammar", "response_format": "json_schema"}

// neutral are the values of OpenAI's fields that ask for nothing; with others they are refused as unknown.
var neutral = map[string]any{"frequency_penalty": 0.0, "presence_penalty": 0.0, "best_of": 1.0}

// rename gives constraints the keys of a line, and takes out what asks for nothing.
func rename(fields map[string]json.RawMessage) error {
	delete(fields, "user") // says who asks, and changes no answer
	for name, value := range neutral {
		var v any
		if json.Unmarshal(fields[name], &v) == nil && (v == nil || v == value) {
			delete(fields, name)
		}
	}
	if raw, ok := fields["response_format"]; ok {
		var format struct {
			Type       string
			JSONSchema struct{ Schema json.RawMessage } `json:"json_schema"`
		}
		if err := json.Unmarshal(raw, &format); err != nil || format.Type != "text" && (format.Type != "json_schema" || format.JSONSchema.Schema == nil) {
			return refuse(http.StatusBadRequest, "response_format", fmt.Sprintf("response_format is of type %q: must be text, or json_schema with json_schema.schema", format.Type))
		}
		fields["response_format"] = format.JSONSchema.Schema
	}
	for name, key := range constraints {
		if value := fields[name]; value != nil {
			if fields[key] != nil {
				return refuse(http.StatusBadRequest, name, fmt.Sprintf("%s gives %s again: give one of them", name, key))
			}
			fields[key] = value
		}
		delete(fields, name)
	}
	return nil
}
