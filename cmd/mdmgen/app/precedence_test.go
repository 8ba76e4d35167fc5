package app

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/flags"
)

// takes reports whether a flag of a command has the value.
func takes(command string, f *flags.Flag, value string) bool {
	_, _, _, err := flags.Arrange(testApp().Command(command), strings.Fields(f.Typed()+"="+value))
	return err == nil
}

// TestPrecedence gives each flag of each command another value in each place that it can have
// one: the command line comes before the environment, this before
// the file, and this before the default.
func TestPrecedence(t *testing.T) {
	clearEnvironment(t)
	tested := 0
	for _, c := range testApp().Commands {
		for _, f := range flags.Of(c) {
			values := slices.DeleteFunc(append(slices.Clone(f.Words), "1", "2", "3", "0.5", "0.7", "0.9", "1s", "2s", "3s", "x", "y", "z"), func(v string) bool { return !takes(c.Name, f, v) })
			if !f.Takes() {
				values = []string{"true", "1", "false"}
			}
			if f.Name == flags.ConfigFlag || f.Name == "set" {
				continue // It names the file, or other flags.
			}
			if len(values) < 1 {
				t.Fatalf("%s --%s: no values to try", c.Name, f.Name)
			}
			values = append(values, values[0], values[0])[:3] // of two words the file and the line have the same
			tested++
			quoted := "'" + values[0] + "'"
			if !takes(c.Name, f, "x") && !takes(c.Name, f, "1s") && len(f.Words) == 0 { // a number
				quoted = values[0]
			}
			path := withConfig(t, "["+c.Name+"]\n"+f.Name+" = "+quoted+"\n")
			standard := f.Text()
			for _, by := range []struct {
				from  flags.Source
				value string
			}{{flags.Default, standard}, {flags.File, values[0]}, {flags.Environment, values[1]}, {flags.Line, values[2]}} {
				app := testApp()
				c := app.Command(c.Name)
				f := flags.Of(c).Find(f.Name)
				if by.from == flags.Environment && f.Env == "" {
					continue
				}
				if f.Env != "" {
					t.Setenv(f.Env, map[flags.Source]string{flags.Environment: values[1], flags.Line: values[1]}[by.from])
				}
				file := path
				if by.from == flags.Default {
					file = os.DevNull
				}
				config, err := flags.ReadConfig(file, true, app.Commands)
				if err != nil {
					t.Fatalf("%s --%s: %v", c.Name, f.Name, err)
				}
				var line []string
				if by.from == flags.Line {
					line = strings.Fields(f.Typed() + "=" + by.value)
				}
				_, _, _, err = flags.Arrange(c, line)
				flags.Fill(c, config)
				value := f.Text()
				if by.from == flags.Environment && f.Lazy {
					value = os.Getenv(f.Env) // as whoever uses it reads it
				}
				if err != nil || f.From() != by.from || value != by.value {
					t.Errorf("%s --%s: %q from %d, want %q from %d: %v", c.Name, f.Name, value, f.From(), by.value, by.from, err)
				}
			}
		}
	}
	if tested < 200 {
		t.Errorf("%d flags were tested", tested)
	}
}
