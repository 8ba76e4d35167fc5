package app

import (
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/exit"
)

// TestEnvironmentIsADefault sets every environment variable of a flag to a valid and an invalid
// value. Commands without a use for it must run; the others must name it in their error.
func TestEnvironmentIsADefault(t *testing.T) {
	needRuntime(t)
	world := worldFile(t, "xor3-mixed")
	ids := filepath.Join(t.TempDir(), "ids.jsonl")
	writeFile(t, ids, `{"ids":[1,0,1]}`)
	none := filepath.Join(t.TempDir(), "none")
	commands := map[string][]string{
		"world":       {"generate", "--model", world, "--format", "json", "--seed", "1"},
		"scored":      {"score", ids, "--model", world, "--exact", "--format", "json"},
		"benched":     {"bench", "--model", world, "-n", "1", "--repetitions", "1", "--warmup", "0", "--seed", "1", "--sampler", "fhs", "--format", "csv"},
		"world bound": {"bound", world, "--sampler", "euler", "--steps", "2"},
		"samplers":    {"samplers"},
		"plan only":   {"bound", "--plan-only", "--steps", "4"},
		"tokenize":    {"tokenize", "--tokenizer", filepath.Join("..", "..", "..", "builtin", "fairytale")},
		"network":     {"generate", "--length", "4", "--seed", "1", "--format", "json"},
	}
	all := func(except ...string) map[string]bool {
		out := map[string]bool{}
		for name := range commands {
			out[name] = true
		}
		for _, name := range except {
			delete(out, name)
		}
		return out
	}
	for _, c := range []struct {
		variable, value string
		// runs lists the commands that run nevertheless; message is the error of the others.
		runs    map[string]bool
		message string
		code    int
	}{
		{"MDMGEN_THREADS", "1", all(), "", 0},
		{"MDMGEN_THREADS", "many", all("network"), "MDMGEN_THREADS=many: must be a whole number in 0..4096", exit.Usage},
		{"MDMGEN_THREADS", "5000", all("network"), "MDMGEN_THREADS=5000: must be", exit.Usage},
		{"MDMGEN_OFFLINE", "off", all(), "", 0},
		{"MDMGEN_OFFLINE", "maybe", all("network"), "MDMGEN_OFFLINE=maybe: must be true or false", exit.Usage},
		{"MDMGEN_DEVICE", "cpu", all(), "", 0},
		{"MDMGEN_DEVICE", "cuda", all("network"), "", exit.Missing},
		{"MDMGEN_DEVICE", "gpu", all("network"), "MDMGEN_DEVICE=gpu: must be cpu", exit.Usage},
		{"MDMGEN_RUNTIME", none, all("network"), "MDMGEN_RUNTIME", exit.Missing},
		{"MDMGEN_TOKENIZER", filepath.Join("..", "..", "..", "builtin", "fairytale"), all(), "", 0},
		{"MDMGEN_TOKENIZER", none, all(), "", 0},
	} {
		t.Run(c.variable+"="+filepath.Base(c.value), func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			for name, args := range commands {
				if c.variable == "MDMGEN_DEVICE" && c.value == "cuda" && name == "network" {
					continue // depends on the machine
				}
				_, stderr, code := runCommand(t, "a text\n", args...)
				switch {
				case c.runs[name] && code != exit.OK:
					t.Errorf("%s: status %d: %s", name, code, stderr)
				case !c.runs[name] && (code != c.code || !strings.Contains(stderr, c.message) || strings.Count(stderr, "\n") != 1):
					t.Errorf("%s: status %d: %s, want %d with %q", name, code, stderr, c.code, c.message)
				}
			}
		})
	}
	// A flag on the command line is an error where it has no meaning, regardless of the
	// environment.
	for _, env := range []string{"", "1"} {
		t.Setenv("MDMGEN_THREADS", env)
		for _, name := range []string{"world", "scored", "benched", "world bound", "plan only"} {
			refused(t, exit.Usage, "--threads: ", append(commands[name], "--threads", "1")...)
		}
		for flag, value := range map[string]string{"--runtime": none, "--device": "cuda"} {
			_, stderr, code := runCommand(t, "", append(commands["world"], flag, value)...)
			if code == exit.OK || !strings.Contains(stderr, flag) {
				t.Errorf("%s on a world: status %d: %s", flag, code, stderr)
			}
		}
	}
	// A flag takes precedence over its variable.
	t.Setenv("MDMGEN_THREADS", "many")
	t.Setenv("MDMGEN_DEVICE", "gpu")
	if out := mustRun(t, "", append(commands["network"], "--threads", "1", "--device", "cpu")...); !strings.Contains(out, `"threads":1`) {
		t.Errorf("--threads 1 is not in the record: %.300s", out)
	}
	// A variable applies, and is in the record.
	t.Setenv("MDMGEN_THREADS", "1")
	t.Setenv("MDMGEN_DEVICE", "auto")
	if out := mustRun(t, "", commands["network"]...); !strings.Contains(out, `"threads":1`) {
		t.Errorf("MDMGEN_THREADS=1 is not in the record: %.300s", out)
	}
}
