package app

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/kit"
)

// candidates are values, some of which are valid for any flag, for the environment and the command
// line.
var candidates = []string{"1", "2", "0.5", "0.7", "1s", "2s", "x", "y"}

// valuesOf returns a flag's values in the environment and on the command line; trial is the same flag
// of another run.
func valuesOf(f, trial *kit.Flag) (env, line string) {
	if !f.Takes() {
		return "1", "false"
	}
	values := slices.DeleteFunc(append(slices.Clone(f.Words), candidates...), func(v string) bool { return trial.Set(v) != nil })
	values = append(values, values[0]) // of one word, both get the same
	return values[0], values[1]
}

// TestPrecedence gives each flag of each command a different value in each of its sources: the
// command line takes precedence over the environment, and the environment over the default.
func TestPrecedence(t *testing.T) {
	clearEnvironment(t)
	n, trials := 0, testApp()
	for _, from := range []string{"default", "environment", "line"} {
		for _, c := range testApp().Commands {
			set := c.Flags.Without(kit.Settings)
			want, line := make(map[string]string), []string(nil)
			for _, f := range set {
				inEnv, onLine := valuesOf(f, trials.Find(c.Name).Flags.Find(f.Name))
				want[f.Name] = map[string]string{"default": f.Text(), "environment": inEnv, "line": onLine}[from]
				if f.Env != "" && from != "default" {
					t.Setenv(f.Env, inEnv)
				}
				if from == "line" {
					line = append(line, strings.Fields(f.Typed()+"="+onLine)...)
				}
			}
			if _, _, err := kit.Arrange(c, line); err != nil {
				t.Fatalf("%s %v: %v", c.Name, line, err)
			}
			set.Fill()
			for _, f := range set {
				value := f.Text()
				if from == "environment" && f.Lazy {
					value = os.Getenv(f.Env) // as read by the command that uses it
				}
				if from == "environment" && f.Env == "" {
					continue
				}
				if n++; f.IsSet() != (from == "line") || f.InEnvironment() != (from == "environment") || value != want[f.Name] {
					t.Errorf("%s --%s: %q from the line: %t, from the environment: %t; want %q from the %s", c.Name, f.Name, value, f.IsSet(), f.InEnvironment(), want[f.Name], from)
				}
			}
		}
	}
	if n < 400 {
		t.Errorf("%d values were tested", n)
	}
}

// clearEnvironment unsets the variables that stand for flags.
func clearEnvironment(t *testing.T) {
	for _, name := range []string{"MDMGEN_MODEL", "MDMGEN_TOKENIZER", "MDMGEN_DEVICE", "MDMGEN_THREADS", "MDMGEN_RUNTIME", "MDMGEN_OFFLINE"} {
		t.Setenv(name, "")
	}
}
