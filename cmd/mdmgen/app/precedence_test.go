package app

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/reftest"
)

// candidates are values, some of which are valid for any flag, for the file, the environment and
// the command line.
var candidates = []string{"1", "2", "3", "0.5", "0.7", "0.9", "1s", "2s", "3s", "x", "y", "z"}

// valuesOf returns a flag's values in the file, in the environment and on the command line.
func valuesOf(f *flags.Flag) (file, env, line string) {
	if !f.Takes() {
		return "true", "1", "false"
	}
	values := slices.DeleteFunc(append(slices.Clone(f.Words), candidates...), func(v string) bool { return f.Check(v) != nil })
	values = append(values, values[0], values[0]) // of two words, the file and the command line get the same
	return values[0], values[1], values[2]
}

// TestPrecedence gives each flag of each command a different value in each of its sources: the
// command line takes precedence over the environment, the environment over the file, and the file
// over the default.
func TestPrecedence(t *testing.T) {
	clearEnvironment(t)
	tested := func(f *flags.Flag) bool { return f.Name != flags.ConfigFlag && f.Name != flags.Settings } // They name the file, or other flags.
	var config strings.Builder
	n := 0
	for _, c := range testApp().Commands {
		fmt.Fprintf(&config, "[%s]\n", c.Name)
		for _, f := range flags.Of(c) {
			if !tested(f) {
				continue
			}
			value, _, _ := valuesOf(f)
			if f.Check("x") == nil || f.Check("1s") == nil || len(f.Words) > 0 || f.Takes() && !strings.ContainsAny(value, "0123456789") { // not a number
				value = "'" + value + "'"
			}
			fmt.Fprintf(&config, "%s = %s\n", f.Name, value)
			n++
		}
	}
	path := configFile(t, config.String())
	for _, from := range []flags.Source{flags.Default, flags.File, flags.Environment, flags.Line} {
		app := testApp()
		file := path
		if from == flags.Default {
			file = os.DevNull
		}
		read := reftest.Must(flags.ReadConfig(file, true, app.Commands))(t)
		for _, c := range app.Commands {
			want, line := make(map[string]string), []string(nil)
			for _, f := range flags.Of(c) {
				inFile, inEnv, onLine := valuesOf(f)
				want[f.Name] = map[flags.Source]string{flags.Default: f.Text(), flags.File: inFile, flags.Environment: inEnv, flags.Line: onLine}[from]
				if f.Env != "" && (from == flags.Environment || from == flags.Line) {
					t.Setenv(f.Env, inEnv)
				}
				if from == flags.Line && tested(f) {
					line = append(line, strings.Fields(f.Typed()+"="+onLine)...)
				}
			}
			if _, _, err := flags.Arrange(c, line); err != nil {
				t.Fatalf("%s %v: %v", c.Name, line, err)
			}
			flags.Fill(c, read)
			for _, f := range flags.Of(c) {
				value := f.Text()
				if from == flags.Environment && f.Lazy {
					value = os.Getenv(f.Env) // as read by the command that uses it
				}
				if tested(f) && (from != flags.Environment || f.Env != "") && (f.From() != from || value != want[f.Name]) {
					t.Errorf("%s --%s: %q from %d, want %q from %d", c.Name, f.Name, value, f.From(), want[f.Name], from)
				}
			}
		}
	}
	if n < 200 {
		t.Errorf("%d flags were tested", n)
	}
}
