package app

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/version"
	"mdmgen/internal/exit"
	"mdmgen/model/ort"
)

// TestReferenceIsCurrent: docs/cli.md is what the program says of itself, whatever the
// environment and the config file are.
func TestReferenceIsCurrent(t *testing.T) {
	t.Setenv("MDMGEN_MODEL", "elsewhere")
	t.Setenv("MDMGEN_THREADS", "3")
	withConfig(t, "steps = 3\n[generate]\nsampler = 'tweedie'\n")
	page := readAll(t, filepath.Join("..", "..", "..", "docs", "cli.md"))
	if got := mustRun(t, "", "man", "--format", "markdown"); got != page {
		t.Error("docs/cli.md is not what `mdmgen man --format markdown` prints: run go generate ./builtin")
	}
	for _, c := range testApp().Commands {
		if !strings.Contains(page, "\n## "+c.Name+"\n") {
			t.Errorf("docs/cli.md does not have %s", c.Name)
		}
	}
}

// TestManPages writes all pages: every flag is on its command's, and groff has nothing to say.
func TestManPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "man1")
	if out := mustRun(t, "", "man", "-o", dir); out != "" {
		t.Errorf("printed %q", out)
	}
	commands := testApp().Commands
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != len(commands)+1 {
		t.Fatalf("%d pages of %d commands: %v", len(files), len(commands), err)
	}
	for _, c := range commands {
		page := readAll(t, filepath.Join(dir, "mdmgen-"+c.Name+".1"))
		if got := mustRun(t, "", "man", c.Name); got != page {
			t.Errorf("man %s prints another page than it writes", c.Name)
		}
		for _, f := range c.Flags {
			if typed := strings.ReplaceAll(flags.Dashed(f.Names()[0]), "-", `\-`); !strings.Contains(page, "\n.TP\n.B "+typed) {
				t.Errorf("mdmgen-%s.1 does not have %s", c.Name, typed)
			}
		}
	}
	for _, wrong := range [][]string{{"nobody"}, {"score", "bound"}, {"score", "--format", "markdown"}, {"score", "-o", dir}, {"-o", ""}, {"--format", "markdown", "-o", dir}} {
		if stdout, stderr, code := runCommand(t, "", append([]string{"man"}, wrong...)...); code != exit.Usage || stdout != "" {
			t.Errorf("man %v: status %d: %s%s", wrong, code, stdout, stderr)
		}
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed: how it renders the pages is not tested")
	}
	for _, f := range files {
		cmd := exec.CommandContext(t.Context(), "groff", "-man", "-Tutf8", "-Kutf8", "-ww", filepath.Join(dir, f.Name()))
		var warnings strings.Builder
		cmd.Stderr = &warnings
		text, err := cmd.Output()
		if err != nil || warnings.Len() > 0 {
			t.Errorf("%s: %v: %s", f.Name(), err, warnings.String())
		}
		if !strings.Contains(string(text), "mdmgen") {
			t.Errorf("%s: renders as %q", f.Name(), text)
		}
	}
}

// TestVersion compares both forms with what the program is.
func TestVersion(t *testing.T) {
	var v version.Versions
	if err := json.Unmarshal([]byte(mustRun(t, "", "version", "--json")), &v); err != nil {
		t.Fatal(err)
	}
	if v.Program != "mdmgen" || v.Version != kit.Version() || v.Go != runtime.Version() || v.Platform != runtime.GOOS+"/"+runtime.GOARCH || v.Runtime != ort.Version {
		t.Errorf("%+v", v)
	}
	text := mustRun(t, "", "version")
	for _, want := range []string{v.Version, v.Go, v.Platform, v.Runtime, "commit " + cmp.Or(v.Commit, "not known")} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if got := mustRun(t, "", "--version"); got != "mdmgen version "+kit.Version()+"\n" {
		t.Errorf("--version: %q", got)
	}
}

// TestHelp: no line of a help is above 100 columns, none tells two defaults, the short one is
// shorter, and every flag is in the long one.
func TestHelp(t *testing.T) {
	for _, c := range testApp().Commands {
		short, long := mustRun(t, "", c.Name, "--help"), mustRun(t, "", c.Name, "--help-all")
		for line := range strings.Lines(short + long + mustRun(t, "", "help")) {
			if strings.Count(line, "default:") > 1 || utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 100 {
				t.Errorf("%s: %s", c.Name, line)
			}
		}
		set := flags.Of(c)
		for _, f := range set {
			line := "\n  " + flags.Dashed(f.Name)
			common := f.Common || !slices.ContainsFunc(set, func(f *flags.Flag) bool { return f.Common })
			if !strings.Contains(long, line) || strings.Contains(short, line) != common {
				t.Errorf("%s --%s: in the short help: %t, want %t", c.Name, f.Name, strings.Contains(short, line), common)
			}
		}
		if got := mustRun(t, "", "help", c.Name); got != short {
			t.Errorf("help %s is not %s --help", c.Name, c.Name)
		}
	}
}
