package match

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"mdmgen/internal/reftest"
)

// readSchemas returns 20 schemas with every supported keyword.
func readSchemas(t testing.TB) []string {
	return strings.Split(strings.TrimSpace(string(reftest.Must(os.ReadFile("testdata/schemas.jsonl"))(t))), "\n")
}

func compiled(t testing.TB, text string) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	reftest.OK(t, c.AddResource("schema.json", reftest.Must(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t)))
	return reftest.Must(c.Compile("schema.json"))(t)
}

// TestSchemas checks with another library that texts in the language of each schema are valid.
func TestSchemas(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	for _, text := range readSchemas(t) {
		pattern := reftest.Must(Schema([]byte(text)))(t, text)
		d, want := reftest.Must(parse(t.Context(), pattern))(t, text), compiled(t, text)
		seen := make(map[string]bool)
		for range 400 {
			doc, s := []byte{}, d.start
			for steps := 0; steps < 200; steps++ {
				var next []byte
				for b := range 256 {
					if d.next[s][b] != 0 {
						next = append(next, byte(b))
					}
				}
				if len(next) == 0 || d.accept[s] && r.IntN(3) == 0 {
					break
				}
				// Make structure as likely as characters.
				b := next[r.IntN(len(next))]
				for _, c := range next {
					if strings.ContainsRune(`"]},`, rune(c)) && r.IntN(8) == 0 {
						b = c
					}
				}
				doc, s = append(doc, b), d.next[s][b]
			}
			if !d.accept[s] {
				continue
			}
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(doc)))
			if err == nil {
				err = want.Validate(value)
			}
			if seen[string(doc)] = true; err != nil {
				t.Fatalf("%s\n%s: %v", text, doc, err)
			}
		}
		if len(seen) == 0 {
			t.Errorf("%s: no text was found", text)
		}
	}
}

// TestSchemaTexts checks texts inside and outside of languages.
func TestSchemaTexts(t *testing.T) {
	t.Parallel()
	schemas := readSchemas(t)
	for _, c := range []struct{ schema, in, out string }{
		{schemas[15], `{"name": "Bo","age":-3}`, `{"age":3,"name":"Bo"}`},
		{schemas[16], `{"a":null, "c":1}`, `{"b":true}`},
		{schemas[16], `{"b":true,"a":null}`, `{"b":true,"a":null,}`},
		{schemas[17], `{}`, `{,"y":1}`}, {schemas[17], `{"y": 0}`, `{"y": 00}`},
		{schemas[6], `"say \"B\""`, `"say "B""`}, {schemas[6], `"\\"`, `"\"`}, {schemas[6], `"x\n"`, `"x n"`},
		{schemas[9], `{"a":[1]}`, `{"a":[2]}`}, {schemas[4], `"\"é\n"`, `"fünfe"`}, {schemas[13], `[1, 2]`, `[1]`}, {schemas[3], `-0.5`, `.5`},
		{`{"type":"string","pattern":"^[\\u0041-\\u005A]\\uD83D\\ude00\\u{1f600}\\/$"}`, `"B😀😀/"`, `"b😀😀/"`}, {`{"type":"string","pattern":"^\\\\u0041$"}`, `"\\u0041"`, `"A"`},
		{`{"type":["string","integer"],"enum":["a",1.5,2,null]}`, `"a"`, `1.5`}, {`{"type":"number","enum":["a",1.5]}`, `1.5`, `"a"`},
	} {
		d := reftest.Must(parse(t.Context(), reftest.Must(Schema([]byte(c.schema)))(t)))(t)
		if !accepts(d, c.in) || accepts(d, c.out) {
			t.Errorf("%s: %s is in: %t, %s is: %t", c.schema, c.in, accepts(d, c.in), c.out, accepts(d, c.out))
		}
	}
}

// TestRefused checks that unsupported schemas are rejected by name.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`{"type":"object","patternProperties":{}}`, `#: "patternProperties" is not supported`}, {`{"type":"integer","minimum":3}`, `"minimum"`},
		{`{"type":"string","format":"date"}`, `"format"`}, {`{"type":"object","properties":{"a":{"oneOf":[]}}}`, "#/properties/a: give a type"},
		{`{"$ref":"#/$defs/t","$defs":{"t":{"type":"array","items":{"$ref":"#/$defs/t"}}}}`, "is recursive"}, {`{"$ref":"http://x"}`, "must be #/$defs/NAME"},
		{`{"type":"string","pattern":"a","maxLength":3}`, "put the length"}, {`{"type":"string","maxLength":5000}`, "0..1000"}, {`[]`, "object"}, {`{"type":"array","items":{"type":"null"},"maxItems":"3"}`, "maxItems"}, {`{"type":3}`, "#: "}, {`{"type":"array"}`, "needs items"},
		{`{"type":"string","pattern":"a\\b"}`, "at its beginning"}, {`{"type":"object","required":["q"]}`, `"q" is not a property`}, {`{"type":"list"}`, `type "list"`}, {`{`, "JSON schema"}, {`{"type":"string","pattern":"\\ud83d"}`, "invalid escape"}, {`{"type":"string","enum":[1,null]}`, "no value is of the type"},
		{`{"type":"null","type":"null"}`, "JSON schema"}, {strings.Repeat(`{"type":"array","items":`, 400) + `{"type":"null"}` + strings.Repeat("}", 400), "nests too deeply"},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/b"}},"b":{"type":"array","items":{"$ref":"#/$defs/c"}},"c":{"enum":["` + strings.Repeat("0123456789", 30000) + `"]}}}`, "more than"},
		{`{"type":"array","items":{"type":"null"},"minItems":3,"maxItems":2}`, "in order"},
	} {
		_, err := Schema([]byte(c[0]))
		reftest.Fails(t, err, c[1], c[0])
	}
}

// TestChoices checks texts inside and outside of a list.
func TestChoices(t *testing.T) {
	t.Parallel()
	d := reftest.Must(parse(t.Context(), Choices([]string{"yes.", "no", "a|b"})))(t)
	for text, in := range map[string]bool{"yes.": true, "yesx": false, "no": true, "a|b": true, "a": false} {
		if accepts(d, text) != in {
			t.Errorf("%q: %t", text, !in)
		}
	}
}
