package match

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainjson"
)

// The patterns of JSON values. Numbers have no exponent, and blanks stand behind colons and commas only.
const (
	anyCharacter = `(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])`
	integer      = `(?:-?(?:0|[1-9][0-9]*))`
	number       = `(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)`
	blank        = ` ?`
)

// ignored are keywords that restrict nothing.
var ignored = strings.Fields("title description default examples deprecated readOnly writeOnly additionalProperties $schema $id $comment $defs definitions")

// schema is a JSON schema, as far as it is regular: a keyword that is not here is refused by name.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       json.RawMessage   `json:"type"`
	Const      json.RawMessage   `json:"const"`
	Enum       []json.RawMessage `json:"enum"`
	AnyOf      []json.RawMessage `json:"anyOf"`
	Properties json.RawMessage   `json:"properties"`
	Required   []string          `json:"required"`
	Items      json.RawMessage   `json:"items"`
	MinItems   int               `json:"minItems"`
	MaxItems   *int              `json:"maxItems"`
	MinLength  int               `json:"minLength"`
	MaxLength  *int              `json:"maxLength"`
	Pattern    *string           `json:"pattern"`
	types      []string
	path       string   // where it stands
	open       []string // the references that lead here
	*document
}

// document is the whole of a schema: what is referred to, and how many bytes its patterns still may take.
type document struct {
	Defs        map[string]json.RawMessage `json:"$defs"`
	Definitions map[string]json.RawMessage `json:"definitions"`
	left        int
}

// Schema is the pattern of the texts of a JSON schema: objects with their properties in the schema's order and no
// others, arrays, strings, numbers, booleans, null, enum, const, anyOf and references.
func Schema(text []byte) (string, error) {
	doc, pattern := &document{left: mostPattern}, ""
	err := plainjson.Unmarshal(text, doc)
	if err == nil {
		pattern, err = (&schema{document: doc, path: "#"}).of(text, "")
	}
	if err != nil {
		return "", fault.Errorf("match", "JSON schema: %w", err)
	}
	return pattern, nil
}

// deepest bounds the length of the path to a schema.
const deepest = 1000

// of is the pattern of a schema below s.
func (s *schema) of(text []byte, below string) (pattern string, err error) {
	out := &schema{document: s.document, path: s.path + below, open: s.open}
	members, err := ordered(text)
	if err == nil {
		err = plainjson.Plain(text, json.Unmarshal(text, out))
	}
	if err == nil && len(out.path) > deepest {
		err = errors.New("it nests too deeply")
	}
	if err == nil && out.Type != nil && json.Unmarshal(out.Type, &out.types) != nil {
		out.types = []string{""}
		err = plainjson.Plain(out.Type, json.Unmarshal(out.Type, &out.types[0]))
	}
	if err != nil {
		return "", fmt.Errorf("%.100s: %w", out.path, err)
	}
	uses := []string{"type"}
	switch {
	case out.Ref != "":
		uses = []string{"$ref"}
		pattern, err = out.reference()
	case out.Const != nil:
		uses = append(uses, "const")
		pattern, err = out.values(out.Const)
	case out.Enum != nil:
		uses = append(uses, "enum")
		pattern, err = out.values(out.Enum...)
	case out.AnyOf != nil:
		uses = []string{"anyOf"}
		pattern, err = alternatives(out.AnyOf, func(i int, text json.RawMessage) (string, error) { return out.of(text, fmt.Sprintf("/anyOf/%d", i)) })
	case out.types == nil:
		err = fmt.Errorf("%s: give a type, $ref, enum, const or anyOf", out.path)
	default:
		pattern, err = alternatives(out.types, func(_ int, name string) (string, error) {
			uses = append(uses, keywords[name]...)
			return out.typed(name)
		})
	}
	for _, m := range members {
		if err == nil && !slices.Contains(uses, m.name) && !slices.Contains(ignored, m.name) {
			err = fmt.Errorf("%s: %q is not taken here: only what is regular is, as objects, arrays, strings, numbers, enum, const and anyOf", out.path, m.name)
		}
	}
	if s.left -= len(pattern); err == nil && s.left < 0 {
		err = fmt.Errorf("%s: the pattern has more than %d bytes: make it smaller", out.path, mostPattern)
	}
	return pattern, err
}

// alternatives is the pattern of one of several things.
func alternatives[T any](all []T, each func(int, T) (string, error)) (string, error) {
	out := make([]string, len(all))
	for i, x := range all {
		var err error
		if out[i], err = each(i, x); err != nil {
			return "", err
		}
	}
	return "(?:" + strings.Join(out, "|") + ")", nil
}

// reference is the pattern of what is referred to.
func (s *schema) reference() (string, error) {
	text, ok := s.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
	if !ok {
		text, ok = s.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
	}
	if !ok {
		return "", fmt.Errorf("%s: $ref %q: must be #/$defs/NAME of this schema", s.path, s.Ref)
	}
	if slices.Contains(s.open, s.Ref) {
		return "", fmt.Errorf("%s: $ref %q comes back to itself: only what is regular is taken", s.path, s.Ref)
	}
	return (&schema{document: s.document, path: s.Ref, open: append(slices.Clone(s.open), s.Ref)}).of(text, "")
}

// keywords are those of a type.
var keywords = map[string][]string{"string": {"minLength", "maxLength", "pattern"}, "array": {"items", "minItems", "maxItems"}, "object": {"properties", "required"}}

// typed is the pattern of the values of a type.
func (s *schema) typed(name string) (string, error) {
	switch name {
	case "null":
		return "null", nil
	case "boolean":
		return "(?:true|false)", nil
	case "integer":
		return integer, nil
	case "number":
		return number, nil
	case "string":
		return s.text()
	case "array":
		return s.array()
	case "object":
		return s.object()
	}
	return "", fmt.Errorf("%s: type %q: must be object, array, string, integer, number, boolean or null", s.path, name)
}

// repeats is how often something comes.
func (s *schema) repeats(least int, most *int) (string, error) {
	if least < 0 || least > 1000 || most != nil && (*most < least || *most > 1000) {
		return "", fmt.Errorf("%s: least and greatest length: must be in order, and in 0..1000", s.path)
	}
	if most == nil {
		return fmt.Sprintf("{%d,}", least), nil
	}
	return fmt.Sprintf("{%d,%d}", least, *most), nil
}

// array is the pattern of an array.
func (s *schema) array() (string, error) {
	if s.Items == nil {
		return "", fmt.Errorf("%s: an array needs items", s.path)
	}
	item, err := s.of(s.Items, "/items")
	if err != nil || s.MaxItems != nil && *s.MaxItems == 0 {
		return `\[\]`, err
	}
	least, most := max(s.MinItems-1, 0), s.MaxItems
	if most != nil {
		most = new(*most - 1)
	}
	more, err := s.repeats(least, most)
	out := `\[` + item + "(?:," + blank + item + ")" + more + `\]`
	if s.MinItems == 0 {
		out = `(?:\[\]|` + out + ")"
	}
	return out, err
}

// object is the pattern of an object: its properties in their order, of which those may be left out that are not
// required.
func (s *schema) object() (string, error) {
	var members []member
	var err error
	if s.Properties != nil {
		if members, err = ordered(s.Properties); err != nil {
			return "", fmt.Errorf("%s/properties: %w", s.path, err)
		}
	}
	for _, name := range s.Required {
		if !slices.ContainsFunc(members, func(m member) bool { return m.name == name }) {
			return "", fmt.Errorf("%s: required %q is no property", s.path, name)
		}
	}
	// rest is what may follow a property, first what an object may begin with.
	rest, first := "", ""
	for _, m := range slices.Backward(members) {
		value, err := s.of(m.value, "/properties/"+m.name)
		if err != nil {
			return "", err
		}
		name, _ := json.Marshal(m.name) // A text cannot fail.
		item := regexp.QuoteMeta(string(name)) + ":" + blank + value
		if slices.Contains(s.Required, m.name) {
			first, rest = item+rest, ","+blank+item+rest
		} else {
			first, rest = "(?:"+item+rest+"|"+first+")", "(?:,"+blank+item+")?"+rest
		}
		if len(first)+len(rest) > mostPattern {
			return "", fmt.Errorf("%s: the pattern has more than %d bytes: make it smaller", s.path, mostPattern)
		}
	}
	return `\{` + first + `\}`, nil
}

// member is a member of an object.
type member struct {
	name  string
	value json.RawMessage
}

// ordered are the members of an object, in their order.
func ordered(text []byte) (out []member, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("must be an object")
	}
	for d.More() {
		var m member
		t, err := d.Token()
		if err == nil {
			err = d.Decode(&m.value)
		}
		if err != nil {
			return nil, err
		}
		m.name = t.(string) // as the decoder has seen to
		out = append(out, m)
	}
	return out, nil
}

// values is the pattern of given values, of the schema's types, without blanks.
func (s *schema) values(all ...json.RawMessage) (string, error) {
	var out []string
	for _, v := range all {
		var b bytes.Buffer
		if err := json.Compact(&b, v); err != nil {
			return "", err
		}
		of := func(name string) bool {
			return strings.Contains(begins[name], b.String()[:1]) && (name != "integer" || !bytes.ContainsAny(v, ".eE"))
		}
		if len(s.types) == 0 || slices.ContainsFunc(s.types, of) {
			out = append(out, b.String())
		}
	}
	if out == nil {
		return "", fmt.Errorf("%s: no value is of the type", s.path)
	}
	return Choices(out), nil
}

// begins are the first characters of the values of a type.
var begins = map[string]string{"null": "n", "boolean": "tf", "integer": "-0123456789", "number": "-0123456789", "string": `"`, "array": "[", "object": "{"}
