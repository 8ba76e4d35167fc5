package app

import (
	"cmp"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/tools"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
	"mdmgen/model/ort/library"
)

// TestReferenceIsCurrent checks that docs/cli.md is the program's own output, regardless of the
// environment.
func TestReferenceIsCurrent(t *testing.T) {
	t.Setenv("MDMGEN_MODEL", "elsewhere")
	t.Setenv("MDMGEN_THREADS", "3")
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

// TestManPages checks that every flag is on the page of its command, and that groff prints no
// warning.
func TestManPages(t *testing.T) {
	t.Parallel()
	commands := testApp().Commands
	pages := []string{mustRun(t, "", "man")}
	for _, c := range commands {
		page := mustRun(t, "", "man", c.Name)
		pages = append(pages, page)
		for _, f := range c.Flags {
			if !strings.Contains(strings.ReplaceAll(page, `\-`, "-"), strings.TrimPrefix(f.Typed(), "--set ")) {
				t.Errorf("the page of %s does not have %s", c.Name, f.Typed())
			}
		}
		if !strings.Contains(strings.ReplaceAll(pages[0], `\-`, "-"), "mdmgen-"+c.Name) {
			t.Errorf("the page of the program does not have %s", c.Name)
		}
	}
	for _, wrong := range [][]string{{"nobody"}, {"score", "bound"}} {
		refused(t, exit.Usage, "", append([]string{"man"}, wrong...)...)
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed: how it renders the pages is not tested")
	}
	for _, page := range pages {
		cmd := exec.CommandContext(t.Context(), "groff", "-man", "-Tutf8", "-Kutf8", "-ww")
		cmd.Stdin = strings.NewReader(page)
		var warnings strings.Builder
		cmd.Stderr = &warnings
		text, err := cmd.Output()
		if err != nil || warnings.Len() > 0 || !strings.Contains(string(text), "mdmgen") {
			t.Errorf("%.60q: %v: %s", page, err, warnings.String())
		}
	}
}

// TestVersion compares both forms with the program's values.
func TestVersion(t *testing.T) {
	var v tools.Versions
	reftest.OK(t, json.Unmarshal([]byte(mustRun(t, "", "version", "--json")), &v))
	if v.Program != "mdmgen" || v.Version != kit.Version() || v.Go != runtime.Version() || v.Platform != runtime.GOOS+"/"+runtime.GOARCH || v.Runtime != library.Version {
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

// TestHelp checks that no line of a help exceeds 100 columns and none has two defaults, that the
// short help fits on a screen and has the common flags, and that the long one has each flag and
// setting once. It limits the numbers of flags.
func TestHelp(t *testing.T) {
	most := map[string]int{"generate": 49, "bench": 45, "score": 45, "bound": 45}
	for _, c := range testApp().Commands {
		short, long := mustRun(t, "", c.Name, "--help"), mustRun(t, "", c.Name, "--help-all")
		for line := range strings.Lines(short + long + mustRun(t, "", "help")) {
			if strings.Count(line, "default:") > 1 || utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 100 {
				t.Errorf("%s: %s", c.Name, line)
			}
		}
		set := c.Flags
		n, shown := 0, 0
		for _, f := range set.Without(kit.Settings) {
			line := regexp.MustCompile(`(?m)^  ` + f.Typed() + `([ ,=]|$)`)
			common := !f.Rare && (f.Common || !slices.ContainsFunc(set, func(f *kit.Flag) bool { return f.Common }))
			if found := len(line.FindAllString(short, -1)); found == 1 != common || len(line.FindAllString(long, -1)) != 1 {
				t.Errorf("%s %s: %d times in the short help, want it there: %t; %q", c.Name, f.Typed(), found, common, line.FindAllString(long, -1))
			}
			if common {
				shown++
			}
			if !f.Rare {
				n++
			}
		}
		if limit, ok := most[c.Name]; ok && n > limit || shown > 30 {
			t.Errorf("%s has %d flags, want at most %d; the short help has %d", c.Name, n, limit, shown)
		}
		if strings.Count(short, "\n") > 50 {
			t.Errorf("%s: help of %d lines", c.Name, strings.Count(short, "\n"))
		}
		if got := mustRun(t, "", "help", c.Name); got != short {
			t.Errorf("help %s is not %s --help", c.Name, c.Name)
		}
	}
}
