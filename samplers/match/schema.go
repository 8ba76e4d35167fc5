package match

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainjson"
)

// blank is allowed after colons and commas, and nowhere else.
const blank = ` ?`

// simple holds the patterns of the values of types without keywords. Numbers have no exponent.
var simple = map[string]string{
	"null": "null", "boolean": "(?:true|false)", "integer": `(?:-?(?:0|[1-9][0-9]*))`, "number": `(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)`,
}

// ignored lists the keywords that restrict nothing.
var ignored = strings.Fields("title description default examples deprecated readOnly writeOnly additionalProperties $schema $id $comment $defs definitions")

// maxPattern bounds the pattern compiled from a schema, in bytes.
const maxPattern = 1 << 20

// schema is a JSON schema as far as it is regular: an unsupported keyword is an error that names it.
type schema struct {
	path     string   // its path in the document
	open     []string // the references that lead here
	keywords map[string]json.RawMessage
	read     []string
	err      error // of the first keyword that could not be read
	*document
}

// document is the whole of a schema: the definitions, and the number of bytes left for its patterns.
type document struct {
	Defs        map[string]json.RawMessage `json:"$defs"`
	Definitions map[string]json.RawMessage `json:"definitions"`
	left        int
}

// Schema returns the pattern of the texts of a JSON schema: objects with only their properties, in
// the schema's order, arrays, strings, numbers, booleans, null, enum, const, anyOf and references.
func Schema(text []byte) (string, error) {
	doc, pattern := &document{left: maxPattern}, ""
	err := plainjson.Unmarshal(text, doc)
	if err == nil {
		pattern, err = (&schema{document: doc, path: "#"}).of(text, "")
	}
	if err != nil {
		return "", fault.Errorf("match", "JSON schema: %w", err)
	}
	return pattern, nil
}

func (s *schema) errorf(format string, args ...any) error {
	return fmt.Errorf("%.100s: %s", s.path, fmt.Sprintf(format, args...))
}

// deepest bounds the length of the path to a schema.
const deepest = 1000

// of returns the pattern of a schema below s.
func (s *schema) of(text []byte, below string) (string, error) {
	in := &schema{document: s.document, path: s.path + below, open: s.open}
	if err := plainjson.Plain(text, json.Unmarshal(text, &in.keywords)); err != nil {
		return "", in.errorf("%v", err)
	}
	if len(in.path) > deepest {
		return "", in.errorf("it nests too deeply")
	}
	pattern, err := in.pattern()
	if in.err != nil || err != nil {
		return "", cmp.Or(in.err, err)
	}
	for _, name := range names(text) {
		if !slices.Contains(in.read, name) && !slices.Contains(ignored, name) {
			return "", in.errorf("%q is not supported here: only regular schemas are, such as objects, arrays, strings, numbers, enum, const and anyOf", name)
		}
	}
	if s.left -= len(pattern); s.left < 0 {
		return "", in.tooLong()
	}
	return pattern, nil
}

func (s *schema) tooLong() error {
	return s.errorf("the pattern has more than %d bytes: make it smaller", maxPattern)
}

// names returns the keys of an object, which must be valid, in their order.
func names(text []byte) (out []string) {
	d := json.NewDecoder(bytes.NewReader(text))
	for d.Token(); d.More(); d.Decode(new(json.RawMessage)) {
		name, _ := d.Token()
		out = append(out, name.(string))
	}
	return out
}

// get reads a keyword, if it is present.
func (s *schema) get(name string, to any) bool {
	text, ok := s.keywords[name]
	if !ok {
		return false
	}
	s.read = append(s.read, name)
	if err := plainjson.Plain(text, json.Unmarshal(text, to)); err != nil && s.err == nil {
		s.err = s.errorf("%s: %v", name, err)
	}
	return true
}

// pattern returns the pattern of the schema.
func (s *schema) pattern() (string, error) {
	var ref string
	var value json.RawMessage
	var list []json.RawMessage
	var types []string
	switch {
	case s.get("$ref", &ref):
		return s.reference(ref)
	case s.get("anyOf", &list):
		return alternatives(list, func(i int, text json.RawMessage) (string, error) { return s.of(text, fmt.Sprintf("/anyOf/%d", i)) })
	}
	if t := s.keywords["type"]; bytes.HasPrefix(t, []byte(`"`)) {
		s.keywords["type"] = slices.Concat([]byte("["), t, []byte("]"))
	}
	typed := s.get("type", &types)
	switch {
	case s.get("const", &value):
		return s.values(types, value)
	case s.get("enum", &list):
		return s.values(types, list...)
	case !typed:
		return "", s.errorf("give a type, $ref, enum, const or anyOf")
	}
	return alternatives(types, func(_ int, name string) (string, error) {
		switch name {
		case "string":
			return s.text()
		case "array":
			return s.array()
		case "object":
			return s.object()
		}
		if simple[name] == "" {
			return "", s.errorf("type %q: must be object, array, string, integer, number, boolean or null", name)
		}
		return simple[name], nil
	})
}

// alternatives returns the pattern of any of several things.
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

// reference returns the pattern of a reference.
func (s *schema) reference(ref string) (string, error) {
	text, ok := s.Defs[strings.TrimPrefix(ref, "#/$defs/")]
	if !ok {
		text, ok = s.Definitions[strings.TrimPrefix(ref, "#/definitions/")]
	}
	switch {
	case !ok:
		return "", s.errorf("$ref %q: must be #/$defs/NAME of this schema", ref)
	case slices.Contains(s.open, ref):
		return "", s.errorf("$ref %q is recursive: only regular schemas are supported", ref)
	}
	return (&schema{document: s.document, path: ref, open: append(slices.Clone(s.open), ref)}).of(text, "")
}

// lengths reads the least and greatest number of repetitions; to is −1 without a limit.
func (s *schema) lengths(least, most string) (from, to int) {
	to = -1
	if s.get(least, &from); from < 0 || from > 1000 || s.get(most, &to) && (to < from || to > 1000) {
		s.err = cmp.Or(s.err, s.errorf("%s and %s: must be in order, and in 0..1000", least, most))
	}
	return from, to
}

func repeats(from, to int) string {
	if to < 0 {
		return fmt.Sprintf("{%d,}", from)
	}
	return fmt.Sprintf("{%d,%d}", from, to)
}

// array returns the pattern of an array.
func (s *schema) array() (string, error) {
	var items json.RawMessage
	if !s.get("items", &items) {
		return "", s.errorf("an array needs items")
	}
	item, err := s.of(items, "/items")
	from, to := s.lengths("minItems", "maxItems")
	if to == 0 {
		return `\[\]`, err
	}
	out := `\[` + item + "(?:," + blank + item + ")" + repeats(max(from-1, 0), max(to-1, -1)) + `\]`
	if from == 0 {
		out = `(?:\[\]|` + out + ")"
	}
	return out, err
}

// object returns the pattern of an object: its properties in their order, in which those that are
// not required may be absent.
func (s *schema) object() (string, error) {
	var properties map[string]json.RawMessage
	var required, order []string
	if s.get("properties", &properties); properties != nil {
		order = names(s.keywords["properties"])
	}
	s.get("required", &required)
	for _, name := range required {
		if properties[name] == nil {
			return "", s.errorf("required %q is not a property", name)
		}
	}
	// rest is what may follow a property, and first what an object may begin with.
	rest, first := "", ""
	for _, name := range slices.Backward(order) {
		value, err := s.of(properties[name], "/properties/"+name)
		if err != nil {
			return "", err
		}
		text, _ := json.Marshal(name) // A string cannot fail.
		item := regexp.QuoteMeta(string(text)) + ":" + blank + value
		if slices.Contains(required, name) {
			first, rest = item+rest, ","+blank+item+rest
		} else {
			first, rest = "(?:"+item+rest+"|"+first+")", "(?:,"+blank+item+")?"+rest
		}
		if len(first)+len(rest) > maxPattern {
			return "", s.tooLong()
		}
	}
	return `\{` + first + `\}`, nil
}

// begins holds the possible first characters of the values of a type.
var begins = map[string]string{"null": "n", "boolean": "tf", "integer": "-0123456789", "number": "-0123456789", "string": `"`, "array": "[", "object": "{"}

// values returns the pattern of those given values that have one of the types, if any, without blanks.
func (s *schema) values(types []string, all ...json.RawMessage) (string, error) {
	var out []string
	for _, v := range all {
		var b bytes.Buffer
		_ = json.Compact(&b, v) // It is valid.
		if types == nil || slices.ContainsFunc(types, func(name string) bool {
			return strings.Contains(begins[name], b.String()[:1]) && (name != "integer" || !bytes.ContainsAny(v, ".eE"))
		}) {
			out = append(out, b.String())
		}
	}
	if out == nil {
		return "", s.errorf("no value is of the type")
	}
	return Choices(out), nil
}
