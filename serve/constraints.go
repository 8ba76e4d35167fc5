package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// constraints are the names that clients of other servers have for keys of a line by which texts must match.
var constraints = map[string]string{"guided_regex": "regex", "guided_choice": "choices", "guided_json": "json_schema", "guided_grammar": "grammar", "response_format": "json_schema"}

// rename gives constraints the keys of a line.
func rename(fields map[string]json.RawMessage) error {
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
