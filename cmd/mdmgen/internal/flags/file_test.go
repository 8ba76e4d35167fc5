package flags_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/reftest"
)

// TestHomeOfAKind checks that ~ is expanded after a kind, too, and that File returns the file.
func TestHomeOfAKind(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for value, want := range map[string][2]string{
		"causal:~/a.txt":  {"causal:" + filepath.Join(home, "a.txt"), filepath.Join(home, "a.txt")},
		"causal:b~/a.txt": {"causal:b~/a.txt", "b~/a.txt"},
		"masked:x":        {"masked:x", "x"},
	} {
		var reference string
		set := flags.Set{flags.Text(&reference, flags.Flag{Name: "reference", Usage: "a law, `KIND:WHAT`"})}
		cmd := &cli.Command{Name: "bound", Flags: set.CLI()}
		path := filepath.Join(home, "config.toml")
		writeFile(t, path, "[bound]\nreference = '"+value+"'\n")
		file, err := flags.ReadConfig(path, true, []*cli.Command{cmd})
		if err == nil {
			flags.Fill(cmd, file)
		}
		if err != nil || reference != want[0] || set[0].File() != want[1] {
			t.Errorf("%s: %q with the file %q, %v; want %q", value, reference, set[0].File(), err, want)
		}
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	reftest.OK(t, os.WriteFile(path, []byte(content), 0o600))
}
