package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// withConfig writes a config file that this test's runs read, and returns its path.
func withConfig(t *testing.T, text string) string {
	t.Helper()
	path := configFile(t, text)
	t.Setenv(flags.EnvConfig, path)
	return path
}

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	writeFile(t, path, text)
	return path
}

// clearEnvironment unsets the variables that stand for flags.
func clearEnvironment(t *testing.T) {
	for _, name := range []string{"MDMGEN_MODEL", "MDMGEN_TOKENIZER", "MDMGEN_DEVICE", "MDMGEN_THREADS", "MDMGEN_RUNTIME", "MDMGEN_OFFLINE"} {
		t.Setenv(name, "")
	}
}

// TestConfigFile checks that each run equals one with the same flags on the command line.
func TestConfigFile(t *testing.T) {
	needRuntime(t)
	clearEnvironment(t)
	world := worldFile(t, "xor3-mixed")
	other := worldFile(t, "markov3-exact")
	for name, c := range map[string]struct {
		config, run, same string
	}{
		"for all commands":          {"seed = 7", "generate --model " + world + " --format ids -n 9", "generate --model " + world + " --format ids -n 9 --seed 7"},
		"a table":                   {"[generate]\nsampler = 'tweedie'\nsteps = 3\nseed = 1", "generate --model " + world + " -n 50 --format ids", "generate --model " + world + " -n 50 --format ids --sampler tweedie --steps 3 --seed 1"},
		"the table before all":      {"seed = 7\n[generate]\nseed = 2", "generate --model " + world + " --format ids -n 9", "generate --model " + world + " --format ids -n 9 --seed 2"},
		"another command's table":   {"[score]\nseed = 7", "generate --model " + world + " --format ids -n 9 --seed 1", "generate --model " + world + " --format ids -n 9 --seed 1"},
		"the flag wins":             {"model = '" + other + "'\nformat = 'json'", "generate --model " + world + " --format ids -n 9 --seed 1", "generate --model " + world + " --format ids -n 9 --seed 1"},
		"its short name wins":       {"[generate]\noutput = '" + filepath.Join(t.TempDir(), "no") + "'", "generate -o - --model " + world + " --format ids -n 9 --seed 1", "generate --model " + world + " --format ids -n 9 --seed 1"},
		"a number":                  {"top-p = 0.5\nT = inf\ndelta = 0", "generate --model " + world + " --sampler euler --set noise=exp --set T=3 --format ids -n 40 --seed 1", "generate --top-p 0.5 --set delta=0 --model " + world + " --sampler euler --set noise=exp --set T=3 --format ids -n 40 --seed 1"},
		"a list of a list flag":     {"[bound]\nsteps = '2,4'", "bound " + world, "bound " + world + " --steps 2,4"},
		"a number of a list flag":   {"[bound]\nsteps = 4", "bound " + world, "bound " + world + " --steps 4"},
		"a dotted key":              {"generate.seed = 3", "generate --model " + world + " --format ids -n 9", "generate --model " + world + " --format ids -n 9 --seed 3"},
		"a list of texts":           {"[generate]\nfact = ['mask_id=3']", "generate --length 8 --format ids --seed 1", "generate --length 8 --format ids --seed 1 --set fact=mask_id=3"},
		"on, and off on the line":   {"[samplers]\njson = true", "samplers --format text", "samplers"},
		"on":                        {"[samplers]\njson = true", "samplers fhs", "samplers fhs --json"},
		"of no use to the sampler":  {"steps = 16\nT = 3\norder = 'random'", "generate --model " + world + " --format ids -n 9 --seed 1", "generate --model " + world + " --format ids -n 9 --seed 1"},
		"of use to one":             {"steps = 4\nsizes = '2,1'", "generate --model " + world + " --sampler tweedie --format ids -n 40 --seed 1", "generate --model " + world + " --sampler tweedie --steps 4 --format ids -n 40 --seed 1"},
		"excluded by a flag":        {"grid = 'paper'\nkappa = 0.7\nnoise = 'exp'", "generate --model " + world + " --sampler euler --steps 4 --format ids -n 40 --seed 1", "generate --model " + world + " --sampler euler --steps 4 --grid paper --set noise=exp --format ids -n 40 --seed 1"},
		"an unused profile":         {"profile = 'none.json'", "generate --model " + world + " --format ids -n 9 --seed 1", "generate --model " + world + " --format ids -n 9 --seed 1"},
		"a world's":                 {"threads = 1\noffline = true\ndevice = 'cuda'\nruntime = 'none'", "generate --model " + world + " --format ids -n 9 --seed 1", "generate --model " + world + " --format ids -n 9 --seed 1"},
		"a world's bound":           {"threads = 1\nseed = 1\nconfidence = 0.5\ntokenizer = 'none'\nlength = 3", "bound " + world, "bound " + world},
		"plans alone":               {"threads = 1\nseed = 1\nmodel = 'none'", "bound --plan-only --steps 4", "bound --plan-only --steps 4"},
		"exact values":              {"draws = 3\nseed = 1\nlength = 4", "score README --limit 2 --exact --format jsonl", "score README --limit 2 --exact --length 4 --format jsonl"},
		"no sampler to score by":    {"sampler = 'tweedie'\nsteps = 8", "score README --length 8 --limit 1 --seed 1 --format jsonl", "score README --length 8 --limit 1 --seed 1 --format jsonl"},
		"exact, or an estimator":    {"[score]\nexact = true", "score README --length 8 --limit 1 --seed 1 --estimator t --format jsonl", "score README --length 8 --limit 1 --seed 1 --estimator t --format jsonl"},
		"a prompt, or a template":   {"prefix = 'A'", "generate --infill B{{3}} --seed 1", "generate --infill B{{3}} --seed 1"},
		"the model's own tokenizer": {"tokenizer = 'none'", "generate --length 5 --seed 1", "generate --length 5 --seed 1"},
		"of no use, and no profile": {"sampler = 'tweedie'\ngrid = 'profile'", "generate --sampler fhs --model " + world + " --format ids -n 9 --seed 1", "generate --model " + world + " --format ids -n 9 --seed 1"},
		"a verified model":          {"model = 'none'", "verify MDLM --golden MDLM/golden.safetensors", "verify MDLM --golden MDLM/golden.safetensors"},
		"a profile is not written":  {"profile = 'none.json'", "score README --length 8 --limit 1 --seed 1 --format jsonl", "score README --length 8 --limit 1 --seed 1 --format jsonl"},
		"a tokenizer's two sources": {"model = 'fairytale'\ntokenizer = 'none'", "tokenize", "tokenize"},
		"a table that excludes":     {"draws = 3\n[score]\nexact = true\nlength = 4", "score README --limit 2 --format jsonl", "score README --limit 2 --exact --length 4 --format jsonl"},
		"json before all":           {"json = true\n[generate]\nformat = 'ids'", "generate --model " + world + " -n 9 --seed 1", "generate --model " + world + " --format ids -n 9 --seed 1"},
		"json, and a word":          {"format = 'json'\n[samplers]\njson = false", "samplers", "samplers"},
		"a word, and no json":       {"json = false\n[samplers]\nformat = 'json'", "samplers", "samplers --json"},
		"switches that are off":     {"quiet = true\nverbose = false\n[score]\nexact = false\nestimator = 'k'", "score README --length 8 --limit 1 --seed 1 --format jsonl", "score README --length 8 --limit 1 --seed 1 --format jsonl -q"},
		"a loud default":            {"verbose = true", "generate --model " + world + " --format ids -n 9 --seed 1 -q", "generate --model " + world + " --format ids -n 9 --seed 1 -q"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := func(line string) []string {
				line = strings.NewReplacer("README", filepath.Join("..", "..", "..", "README.md")+" --model "+tinyModel+" --tokenizer "+lettersFile, "MDLM", tinyModel).Replace(line)
				return strings.Fields(line)
			}
			want, wantErr, code := runCommand(t, "a king\n", args(c.same)...)
			if code != exit.OK {
				t.Fatalf("%s: status %d: %s", c.same, code, wantErr)
			}
			got, stderr, code := runCommand(t, "a king\n", append(args(c.run), "--config", configFile(t, c.config))...)
			if code != exit.OK || timeless(got) != timeless(want) || timeless(stderr) != timeless(wantErr) {
				t.Errorf("%s with %q: status %d: %.400s%s, want what %s prints: %.400s%s", c.run, c.config, code, got, stderr, c.same, want, wantErr)
			}
		})
	}
}

// TestConfigMistakes checks that each mistake gives one line with its place, and status 2.
func TestConfigMistakes(t *testing.T) {
	clearEnvironment(t)
	world := worldFile(t, "xor3-mixed")
	run := []string{"generate", "--model", world, "--seed", "1", "--format", "ids"}
	for _, c := range []struct{ config, message string }{
		{"\nstps = 3", `:2: stps: no command has such a flag; did you mean steps?`},
		{"[generate]\n\ngolden = 'x'", `:3: golden: generate does not have such a flag`},
		{"[generte]", `:1: no command is called "generte"; did you mean generate?`},
		{"n = 'many'", `:1: n: generate: must be a whole number`},
		{"offline = 5", `:1: offline: generate: must be true or false`},
		{"[generate]\nsteps = 1.5", `:2: steps: generate: write the number in decimal, as a whole number in 1..`},
		{"[generate]\nseed = -1", `:2: seed: generate: must be a whole number in 0..2^64-1`},
		{"[generate]\ndelta = 'x'", `:2: delta: generate: must be a finite number of at least 0`},
		{"[bench]\nsteps = [8, 16]", `:2: steps: bench: must be a text, in which commas divide a list`},
		{"[help]", `:1: no command is called "help"`},
		{"quiet = 2", `:1: quiet: generate: must be one of quiet, normal, verbose`},
		{"[bench]\nmax-time = 90", `:2: max-time: bench: must be a time, such as 90s or 10m`},
		{"[generate]\nprefix = [1]", `:2: prefix: generate: must be one value`},
		{"[generate]\nfact = 2026-01-01", `:2: fact: generate: must be a text or a list of texts`},
		{"[generate.steps]\nx = 1", `:1: steps: generate: must be one value`},
		{"[[generate]]\nsteps = 1", `:1: generate: is a command: write its defaults into the table [generate]`},
		{"generate = 1", `:1: generate: is a command: write its defaults into the table [generate]`},
		{"o = 'x'", `:1: o: no command has such a flag; did you mean output?`},
		{"\uFEFFseed = 1\r\nsteps = 'x'", `:2: steps: generate: must be a whole number`},
		{"output = 'x'", `:1: output: names an output file, and would apply to every command: put it into the table of one command`},
		{"config = 'x'", `:1: config: is not allowed in a config file`},
		{"seed = 1\nseed = 2", `:2: `},
		{"seed = \nsteps = 2", `:1: `},
		{"seed = 1\n[generate", `:2: `},
		{"seed = 1\n\xff", `:2: `},
		{"seed = 99999999999999999999", `:1: `},
		// Errors of the flags.
		{"\n[generate]\nn = 0", `:3: n: generate: must be in 1..`},
		{"format = 'xml'", `:1: format: generate: must be one of`},
		{"threads = 2\nlength = -4", `:2: length: generate: must be in 1..`},
		{"sampler = 'nobody'", `:1: sampler: generate: must be one of fhs, euler`},
		{"[generate]\nsampler = 'tweedie'\nsteps = 0", `:3: steps: generate: must be a whole number in 1..16777216`},
		{"temperature = -1", `:1: `},
		{"[generate]\ninput = ''", `:2: input: generate: name a file, or - for standard input`},
	} {
		run := run
		if strings.HasPrefix(c.config, "format") {
			run = run[:len(run)-2]
		}
		path := withConfig(t, c.config)
		stderr := refused(t, exit.Usage, "mdmgen: "+path+c.message, run...)
		for range 8 { // always the same one of several faults
			if _, again, _ := runCommand(t, "", run...); again != stderr {
				t.Errorf("%q: %q, then %q", c.config, stderr, again)
			}
		}
	}
}

// TestConfigPlace checks the places from which the file is read, and that no other file is.
func TestConfigPlace(t *testing.T) {
	clearEnvironment(t)
	world := worldFile(t, "xor3-mixed")
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("AppData", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "xdg"))
	t.Setenv(flags.EnvConfig, "")
	own := reftest.Must(os.UserConfigDir())(t)
	write := func(path, text string) string {
		t.Helper()
		reftest.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		writeFile(t, path, text)
		return path
	}
	steps := func(args ...string) string {
		t.Helper()
		out := mustRun(t, "", append([]string{"generate", "--model", world, "--sampler", "euler", "--seed", "1", "--format", "json"}, args...)...)
		var record struct{ Settings struct{ Steps int } }
		reftest.OK(t, json.Unmarshal([]byte(out), &record))
		return string(rune('0' + record.Settings.Steps))
	}
	// A file in the working folder is not read.
	t.Chdir(t.TempDir())
	for _, name := range []string{"config.toml", "mdmgen/config.toml", ".mdmgen.toml", "mdmgen.toml", ".config/mdmgen/config.toml"} {
		write(name, "steps = 3\n")
	}
	if got := steps("--steps", "2"); got != "2" {
		t.Errorf("%s steps, want 2", got)
	}
	user := write(filepath.Join(own, "mdmgen", "config.toml"), "[generate]\nsteps = 4\n")
	named := write(filepath.Join(home, "named.toml"), "steps = 5\n")
	given := write(filepath.Join(home, "given.toml"), "generate = {steps = 6}\n")
	if got := steps(); got != "4" {
		t.Errorf("the user's own file: %s steps, want 4", got)
	}
	t.Setenv(flags.EnvConfig, named)
	if got := steps(); got != "5" {
		t.Errorf("the environment's: %s steps, want 5", got)
	}
	if got := steps("--config", given); got != "6" {
		t.Errorf("the one of --config: %s steps, want 6", got)
	}
	if got := steps("--config", given, "--steps", "7"); got != "7" {
		t.Errorf("a flag beside it: %s steps, want 7", got)
	}
	if got := steps("--config", os.DevNull, "--steps", "8"); got != "8" {
		t.Errorf("no file: %s steps, want 8", got)
	}
	if _, stderr, code := runCommand(t, "", "version", "--config", ""); code != exit.Usage || stderr != "mdmgen: --config: name a file, or "+os.DevNull+" for none\n" {
		t.Errorf("--config '': status %d: %s", code, stderr)
	}
	for _, path := range []string{filepath.Join(home, "none"), home} {
		refused(t, exit.Usage, "mdmgen: config file "+path+": ", "version", "--config", path)
	}
	// Help does not read the file.
	t.Setenv(flags.EnvConfig, write(filepath.Join(home, "broken.toml"), "["))
	for _, args := range [][]string{{"--help"}, {"generate", "--help"}, {"help", "generate"}, {"--version"}} {
		mustRun(t, "", args...)
	}
	t.Setenv(flags.EnvConfig, user)

	// ~ is the home folder in the name of a file.
	write(filepath.Join(home, "world.json"), readAll(t, world))
	withConfig(t, "model = '~/world.json'\n[generate]\nprefix = '~/x'\n[bench]\noutput = '~/a.md'\n")
	if home, err := os.UserHomeDir(); err == nil {
		if out := mustRun(t, "", "config", "generate"); !strings.Contains(out, filepath.Join(home, "world.json")) || !strings.Contains(out, " ~/x ") {
			t.Errorf("~: %s", out)
		}
		if out := mustRun(t, "", "config", "bench"); !strings.Contains(out, filepath.Join(home, "a.md")) {
			t.Errorf("~ of another command: %s", out)
		}
	}
}
