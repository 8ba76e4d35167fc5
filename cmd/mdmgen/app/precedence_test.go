package app

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/config"
	"mdmgen/cmd/mdmgen/internal/flags"
)

// TestEveryFlagCanBeConfigured gives each flag of each command a value in the file, from its
// table, and asks config for it.
func TestEveryFlagCanBeConfigured(t *testing.T) {
	clearEnvironment(t)
	for _, c := range testApp().Commands {
		text := "[" + c.Name + "]\n"
		want := make(map[string]string)
		for _, f := range flags.Of(c) {
			if f.Name == flags.ConfigFlag || f.Name == "set" || c.Name == "config" {
				continue
			}
			value, shown := "", ""
			for _, try := range [][2]string{{"'x'", "x"}, {"5", "5"}, {"0.5", "0.5"}, {"true", "true"}, {"'5s'", "5s"}, {"'%'", "%"}} {
				if len(f.Words) > 0 {
					try[1] = strings.ReplaceAll(try[1], "%", f.Words[len(f.Words)-1])
				}
				if takes(c.Name, f, try[1]) {
					value, shown = strings.ReplaceAll(try[0], "%", try[1]), try[1]
					break
				}
			}
			text += f.Name + " = " + value + "\n"
			want[f.Name] = shown
		}
		withConfig(t, text)
		var record config.Record
		if err := json.Unmarshal([]byte(mustRun(t, "", "config", c.Name, "--json")), &record); err != nil {
			t.Fatal(err)
		}
		for _, v := range record.Values {
			if w, ok := want[v.Flag]; ok && (v.Value != w || v.Default || v.From == "") {
				t.Errorf("%s %s: %+v, want %s", c.Name, v.Flag, v, w)
			}
		}
	}
}

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
			if len(values) < 2 {
				t.Fatalf("%s --%s: no values to try", c.Name, f.Name)
			}
			values = append(values, values[0])[:3] // of two words the file and the line have the same
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
