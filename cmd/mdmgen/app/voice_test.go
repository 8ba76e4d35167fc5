package app

import (
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/exit"
)

// TestQuietAndVerbose checks that standard output stays the same, that --quiet leaves only errors
// on standard error, and that --verbose adds lines.
func TestQuietAndVerbose(t *testing.T) {
	needRuntime(t)
	clearEnvironment(t)
	world := worldFile(t, "xor3-mixed")
	ids := filepath.Join(t.TempDir(), "ids.jsonl")
	writeFile(t, ids, `{"ids":[1,0,1]}`)
	for name, c := range map[string]struct {
		args []string
		// notices are the beginnings of the lines without a flag; details those of the lines that
		// --verbose adds.
		notices, details []string
	}{
		"generate": {[]string{"generate", "--model", world, "--format", "ids"}, []string{"seed "}, []string{"model " + world}},
		"network":  {[]string{"generate", "--length", "4", "--seed", "1"}, []string{"4 network calls, "}, []string{"tokenizer of the model: 2048 tokens, opened in ", "model fairytale: tinyModel, sha256:", "it runs with onnxruntime ", "library "}},
		"events":   {[]string{"generate", "--model", world, "--format", "ids", "--sampler", "uniformization", "--steps", "2", "--seed", "1"}, nil, []string{"model "}},
		"score":    {[]string{"score", ids, "--model", world, "--seed", "1"}, nil, []string{"model "}},
		"exact":    {[]string{"score", ids, "--model", world, "--exact"}, nil, []string{"model "}},
		"bound":    {[]string{"bound", ids, "--model", world, "--steps", "2", "--seed", "1"}, nil, []string{"model "}},
		"verify":   {[]string{"verify", tinyModel, "--golden", filepath.Join(tinyModel, "golden.safetensors")}, nil, []string{"model "}},
		"samplers": {[]string{"samplers"}, nil, nil},
		"tokenize": {[]string{"tokenize"}, nil, []string{"tokenizer of the model"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(flags ...string) (stdout string, told []string) {
				t.Helper()
				stdout, stderr, code := runCommand(t, "a king\n", append(c.args[:len(c.args):len(c.args)], flags...)...)
				if code != exit.OK {
					t.Fatalf("%v: status %d: %s", flags, code, stderr)
				}
				for line := range strings.Lines(stderr) {
					told = append(told, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "mdmgen: "))
				}
				return stdout, told
			}
			check := func(told, want []string, flags string) {
				t.Helper()
				for _, w := range want {
					found := false
					for _, line := range told {
						found = found || strings.HasPrefix(line, w)
					}
					if !found {
						t.Errorf("%s: no %q in %q", flags, w, told)
					}
				}
			}
			plain, notices := run()
			same := func(out string) bool { return out == plain || name == "generate" } // whose seed is random
			check(notices, c.notices, "no flag")
			if len(notices) != len(c.notices) {
				t.Errorf("%q, want %q", notices, c.notices)
			}
			quiet, told := run("--quiet")
			if len(told) > 0 || !same(quiet) {
				t.Errorf("--quiet: told %q; %q, want %q", told, quiet, plain)
			}
			loud, told := run("-v")
			check(told, c.notices, "-v")
			check(told, c.details, "-v")
			if !same(loud) || len(c.details) == 0 && len(told) > 0 {
				t.Errorf("-v: told %q; %q, want %q", told, loud, plain)
			}
		})
	}
	// Every command has the flags, once, and prints errors.
	for _, c := range testApp().Commands {
		refused(t, exit.Usage, "mdmgen: "+c.Name+": --verbosity is given twice\n", c.Name, "-q", "--verbose")
		if c.Name == "merge" || c.Name == "replay" {
			continue // They take any number of files.
		}
		refused(t, exit.Usage, "", c.Name, "-q", "a", "b", "c")
	}
}
