package canvas

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"mdmgen/samplers/match"
)

// Pattern is what the text of a gap must be, or that from the first mask to the last where Gap is "".
type Pattern struct {
	Gap string `json:"gap,omitempty"`
	// Kind is regex, json_schema, grammar or choices; Text has choices as a list in JSON.
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// patternKinds are the keys of a line that say what texts must be.
var patternKinds = []string{"regex", "json_schema", "grammar", "choices"}

// readPatterns reads the value of such a key: what the text must be or, but for a schema, that of gaps by name.
func readPatterns(kind string, raw json.RawMessage) ([]Pattern, error) {
	gaps := make(map[string]json.RawMessage)
	if kind == "json_schema" || json.Unmarshal(raw, &gaps) != nil {
		gaps = map[string]json.RawMessage{"": raw}
	}
	var out []Pattern
	for _, gap := range slices.Sorted(maps.Keys(gaps)) {
		p := Pattern{gap, kind, string(gaps[gap])}
		var text *string
		var list []string
		switch {
		case kind == "json_schema":
		case kind == "choices":
			if json.Unmarshal(gaps[gap], &list) != nil || len(list) == 0 {
				return nil, errors.New("choices must be a list of texts, or an object with such a list of each gap")
			}
		case json.Unmarshal(gaps[gap], &text) != nil || text == nil:
			return nil, fmt.Errorf("%s must be a text, or an object with a text of each gap", kind)
		default:
			p.Text = *text
		}
		out = append(out, p)
	}
	return out, nil
}

// Regexp is the pattern as a regular expression.
func (p Pattern) Regexp() (string, error) {
	switch p.Kind {
	case "json_schema":
		return match.Schema([]byte(p.Text))
	case "grammar":
		return match.Grammar(p.Text)
	case "choices":
		var list []string
		err := json.Unmarshal([]byte(p.Text), &list)
		return match.Choices(list), err
	}
	return p.Text, nil
}
