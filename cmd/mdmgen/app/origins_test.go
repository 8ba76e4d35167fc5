package app

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/config"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// TestConfigOrigins shows a flag from each source.
func TestConfigOrigins(t *testing.T) {
	clearEnvironment(t)
	t.Setenv("MDMGEN_THREADS", "3")
	t.Setenv("MDMGEN_MODEL", "somewhere")
	path := withConfig(t, "threads = 2\nseed = 9\n[generate]\nsteps = 4\nfact = ['a=1', 'b=2']\n[config]\nquiet = true\n")
	var record config.Record
	reftest.OK(t, json.Unmarshal([]byte(mustRun(t, "", "config", "--json")), &record))
	if record.Schema != "mdmgen.config/1" || record.File != path || !record.Found {
		t.Errorf("%+v", record)
	}
	got := make(map[string]config.Shown)
	for _, v := range record.Values {
		got[v.Command+" "+v.Flag] = v
	}
	for _, want := range []config.Shown{
		{Command: "generate", Flag: "threads", Value: "3", Default: false, From: "MDMGEN_THREADS"},
		{Command: "bench", Flag: "threads", Value: "3", Default: false, From: "MDMGEN_THREADS"},
		{Command: "generate", Flag: "model", Value: "somewhere", Default: false, From: "MDMGEN_MODEL"},
		{Command: "doctor", Flag: "model", Value: "", Default: true, From: ""},
		{Command: "generate", Flag: "seed", Value: "9", Default: false, From: path + ":2"},
		{Command: "score", Flag: "seed", Value: "9", Default: false, From: path + ":2"},
		{Command: "generate", Flag: "steps", Value: "4", Default: false, From: path + ":4"},
		{Command: "score", Flag: "steps", Value: "128", Default: true, From: ""},
		{Command: "generate", Flag: "fact", Value: "a=1, b=2", Default: false, From: path + ":5"},
		{Command: "generate", Flag: "sampler", Value: "fhs", Default: true, From: ""},
		{Command: "config", Flag: "verbosity", Value: "quiet", Default: false, From: path + ":7"},
		{Command: "config", Flag: "format", Value: "json", Default: false, From: "command line"},
	} {
		if got[want.Command+" "+want.Flag] != want {
			t.Errorf("%+v, want %+v", got[want.Command+" "+want.Flag], want)
		}
	}
	flags := 0
	for _, c := range testApp().Commands {
		for _, f := range c.Flags {
			if f.Name != "config" && f.Name != "set" {
				flags++
			}
		}
	}
	if len(record.Values) != flags {
		t.Errorf("%d values of %d flags", len(record.Values), flags)
	}
	text := mustRun(t, "", "config", "generate")
	for _, want := range []string{"# " + path, "[generate]", `steps +4 +` + regexp.QuoteMeta(path) + `:4`, `threads +3 +MDMGEN_THREADS`, `sampler +fhs +default`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if strings.Contains(text, "[score]") {
		t.Error("config generate tells of score")
	}
}

// FuzzConfig checks that any file is read, or rejected in one line with a place.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{"", "seed = 1", "[generate]\nsteps = 2\n", "generate = {seed = 1, steps.x = 2}", "a.b.c = 1", "[[x]]", "\"\" = 1", "[\"\"]", "seed = 0x10", "fact = [[], {}]", "[generate]\n[generate.x]\n", "'generate'.seed=1"} {
		f.Add(s)
	}
	path := filepath.Join(f.TempDir(), "config.toml")
	place := regexp.MustCompile(`^` + regexp.QuoteMeta(path) + `:[1-9][0-9]*: .`)
	f.Fuzz(func(t *testing.T, text string) {
		writeFile(t, path, text)
		app := testApp()
		file, err := flags.ReadConfig(path, true, app.Commands)
		if err != nil {
			if !place.MatchString(err.Error()) || exit.Code(err) != exit.Usage {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for _, c := range app.Commands {
			flags.Fill(c, file)
		}
	})
}
