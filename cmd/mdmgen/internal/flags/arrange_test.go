package flags_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
)

// TestArrange checks that flags may stand anywhere.
func TestArrange(t *testing.T) {
	var number int
	var yes bool
	var items []string
	cmd := &cli.Command{Name: "do", Flags: flags.Set{
		flags.Int(&number, -9, 9, flags.Flag{Name: "number", Alias: "n"}), flags.Bool(&yes, flags.Flag{Name: "yes"}), flags.Texts(&items, flags.Flag{Name: "item"}),
	}.CLI()}
	for _, c := range []struct{ in, want string }{
		{"", "--"},
		{"a b", "-- a b"},
		{"a -n 3 b", "--number=3 -- a b"},
		{"a --yes b", "--yes=true -- a b"},
		{"a --yes=false b --number=4", "--yes=false --number=4 -- a b"},
		{"- --yes -", "--yes=true -- - -"},
		{"a -- --yes b", "-- a --yes b"},
		{"-n -3 a", "--number=-3 -- a"},
		{"--item -- a", "--item=-- -- a"},
		{"--item a x --item b", "--item=a --item=b -- x"},
		{"a --help -n", "--help"},
		{"--number many --help", "--help"},
	} {
		got, _, err := flags.Arrange(cmd, strings.Fields(c.in))
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("Arrange(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"--no", "-n", "-n 1 --number 2", "--yes --yes", "---", "--=3"} {
		if got, _, err := flags.Arrange(cmd, strings.Fields(in)); exit.Code(err) != exit.Usage || err == nil {
			t.Errorf("Arrange(%q) = %q, %v, want a usage error", in, got, err)
		}
	}
}

// TestRenamed: an old name prints what it became, in a config file too.
func TestRenamed(t *testing.T) {
	var limit int
	var format string
	cmd := &cli.Command{Name: "bound", Flags: flags.Set{flags.Int(&limit, 1, 9, flags.Flag{Name: "limit"})}.CLI()}
	if _, _, err := flags.Arrange(cmd, []string{"--windows", "3"}); err == nil || err.Error() != "bound: unknown flag --windows: it is --limit now" {
		t.Error(err)
	}
	cmd = &cli.Command{Name: "score", Flags: flags.Format(&format, "text", "json").CLI()}
	if _, _, err := flags.Arrange(cmd, []string{"--format", "table"}); err == nil || err.Error() != "--format table, which is text now: must be one of text, json" {
		t.Error(err)
	}
	if _, _, err := flags.Arrange(cmd, []string{"--json", "--format", "text"}); err == nil || err.Error() != "score: --json is short for --format json: leave one out" {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("[bound]\nwindows = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd = &cli.Command{Name: "bound"}
	if _, err := flags.ReadConfig(path, true, []*cli.Command{cmd}); err == nil || err.Error() != path+":2: windows: is limit now" {
		t.Error(err)
	}
}
