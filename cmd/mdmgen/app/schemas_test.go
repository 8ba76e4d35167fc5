package app

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"mdmgen/internal/reftest"
)

// TestSchemas checks the commands' JSON against docs/schemas, which must have every field.
func TestSchemas(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	sedd := reftest.Data(t, "reference", "checkpoints", "sedd")
	world := worldFile(t, "markov4-sharp")
	pairs := pairsFile(t)
	small := " --model " + tinyModel + " --tokenizer " + lettersFile
	ids := filepath.Join(t.TempDir(), "ids.jsonl")
	writeFile(t, ids, `{"ids":[1,2,3,4,5]}`)
	words := strings.NewReplacer("␣", " ", "IDS", ids, "MDLM", tinyModel, "LETTERS", lettersFile, "TALE", filepath.Join("..", "..", "..", "examples", "tale.txt"), "FAIRYTALE", reftest.Builtin(t))
	for name, lines := range map[string][]string{
		"run": {
			"generate --length 9 -n 2", "generate --infill a{{2}}b --sampler tweedie --steps 3 --temperature 0.9 --top-k 5" + small, "generate --length 6 --lookahead 2" + small,
			"generate --length 6 --sampler matu --steps 3 --set finish=leave --set delta=0.5" + small, "generate --seed 1 --model " + sedd,
		},
		"score": {
			"score TALE --length 9 --limit 3 --draws 2", "score TALE --length 5 --limit 2 --exact --sampler euler --steps 3" + small, "score TALE --length 9 --limit 2 --protocol mdlm" + small,
			"score TALE --length 9 --limit 2 --estimator plans --plans 2 --sampler tweedie" + small, "score IDS --length 5 --limit 1 --draws 2 --model " + sedd,
		},
		"read":  {"read a{{2}} --candidate b", "read a{{1}}b{{1}} --top 2 --law left-to-right --candidate ab" + small},
		"bound": {"bound " + world, "bound TALE --length 4 --limit 3 --steps 2" + small, "bound --q0 chain --length 3 --draws 4 --model " + tinyModel, "bound --plan-only --length 8"},
		"bench": {
			"bench --length 6 --case fhs --case tweedie␣steps=2,4 -n 2 -r 2 --quality error=8,certificate=4,text,nelbo=2",
			"bench --length 6 --case parallel-fhs␣steps=2␣cache=none,window:0 -n 2 -r 1 --quality audit=2",
		},
		"groups":  {"schedule --calls 2 --model " + world + " --profile " + pairs},
		"windows": {"schedule --cache --target-kl-per-token 9 --length 12 --model " + tinyModel},
		"verify":  {"verify --golden " + filepath.Join(sedd, "golden.safetensors") + " " + sedd},
		"verify-against": {
			"verify FAIRYTALE --against fairytale --text TALE --length 6 --limit 3 --draws 2 --seed 1",
			"verify MDLM --against MDLM --tokenizer LETTERS --text TALE --length 6 --limit 2 --draws 2 --tolerance 1 --seed 1",
		},
		"dry-run": {"generate --dry-run --length 6 -n 3" + small, "generate --dry-run --length 6 --sampler threshold" + small},
	} {
		t.Run(name, func(t *testing.T) {
			schema := closedSchema(t, name)
			for _, line := range lines {
				args := strings.Fields(line)
				for i, a := range args {
					args[i] = words.Replace(a)
				}
				printed := mustRun(t, "", append(args, "--json")...)
				value, err := jsonschema.UnmarshalJSON(strings.NewReader(printed))
				if err == nil {
					err = schema.Validate(value)
				}
				reftest.OK(t, err, line)
				delete(value.(map[string]any), "provenance")
				if schema.Validate(value) == nil {
					t.Errorf("%s: a record without provenance passes, too", line)
				}
			}
		})
	}
}

// TestTraceSchemas checks the lines of a trace against docs/schemas, which must have every field.
func TestTraceSchemas(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	path := filepath.Join(t.TempDir(), "run.jsonl")
	mustRun(t, "", "generate", "--model", tinyModel, "--tokenizer", lettersFile, "--infill", "a{{6}}b", "--sampler", "remdm", "--steps", "9", "--seed", "3", "--trace", path, "--set", "trace-top=2")
	header, frames := closedSchema(t, "trace"), closedSchema(t, "frame")
	lines := strings.Split(strings.TrimSpace(readAll(t, path)), "\n")
	for i, line := range lines[:len(lines)-1] { // The last is the footer.
		schema := frames
		if i == 0 {
			schema = header
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err == nil {
			err = schema.Validate(value)
		}
		reftest.OK(t, err, "line", i+1)
	}
}

// closedSchema returns a schema of docs/schemas that rejects unknown fields.
func closedSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	document := reftest.Must(jsonschema.UnmarshalJSON(strings.NewReader(readAll(t, filepath.Join("..", "..", "..", "docs", "schemas", name+".schema.json")))))(t)
	closed(document)
	c := jsonschema.NewCompiler()
	reftest.OK(t, c.AddResource(name, document))
	return reftest.Must(c.Compile(name))(t)
}

// closed makes a schema reject unknown fields.
func closed(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, ok := s["properties"].(map[string]any); ok && s["type"] == "object" {
			s["additionalProperties"] = false
		}
		for _, v := range s {
			closed(v)
		}
	case []any:
		for _, v := range s {
			closed(v)
		}
	}
}
