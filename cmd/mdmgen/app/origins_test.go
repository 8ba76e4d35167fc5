package app

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"

	"mdmgen/cmd/mdmgen/internal/config"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// TestConfigHasAll checks that config shows every flag of every command. TestScripts/config has their
// sources.
func TestConfigHasAll(t *testing.T) {
	var record config.Record
	reftest.OK(t, json.Unmarshal([]byte(mustRun(t, "", "config", "--json")), &record))
	all := 0
	for _, c := range testApp().Commands {
		all += len(flags.Of(c).Without(flags.ConfigFlag, flags.Settings))
	}
	if len(record.Values) != all {
		t.Errorf("%d values of %d flags", len(record.Values), all)
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
