package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updateTheory = flag.Bool("update-theory", false, "write the outputs of the commands in docs/theory.md and docs/certificates.md")

// shellBlock is a block of these pages: a command and what it prints.
var shellBlock = regexp.MustCompile("(?s)```sh\n\\$ (mdmgen [^\n]*)\n(.*?)```\n")

// TestTheory runs the commands of both pages in the repository's root and compares what they
// print, byte by byte. A command may end in "| grep -E PATTERN", which means what it means
// in a shell.
func TestTheory(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	for _, page := range []string{"theory.md", "certificates.md"} {
		runPage(t, filepath.Join("docs", page))
	}
}

func runPage(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := shellBlock.FindAllStringSubmatch(string(text), -1)
	if want := strings.Count(string(text), "```sh\n"); len(blocks) != want || want == 0 {
		t.Fatalf("%d of %d blocks are commands", len(blocks), want)
	}
	outputs := make(map[string]string) // a command that several blocks filter runs once
	i := 0
	updated := shellBlock.ReplaceAllStringFunc(string(text), func(string) string {
		command, want := blocks[i][1], blocks[i][2]
		i++
		line, filter, _ := strings.Cut(command, " | ")
		out, ok := outputs[line]
		if !ok {
			out = mustRun(t, "", strings.Fields(line)[1:]...)
			outputs[line] = out
		}
		got := filtered(t, out, filter)
		if got != want && !*updateTheory {
			t.Errorf("%s printed\n%swant\n%s", command, got, want)
		}
		return "```sh\n$ " + command + "\n" + got + "```\n"
	})
	if *updateTheory {
		if err := os.WriteFile(path, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// filtered is what is left of an output.
func filtered(t *testing.T, out, filter string) string {
	t.Helper()
	pattern, isGrep := strings.CutPrefix(filter, "grep -E ")
	lines := strings.SplitAfter(out, "\n")
	switch {
	case filter == "":
		return out
	case isGrep:
		re, err := regexp.Compile(strings.Trim(pattern, "'"))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, l := range lines[:len(lines)-1] {
			if re.MatchString(strings.TrimSuffix(l, "\n")) {
				b.WriteString(l)
			}
		}
		return b.String()
	}
	t.Fatalf("filter %q: must be grep -E", filter)
	return ""
}
