package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// TestBoundInterrupted checks that an interrupted run prints the finished part of its report,
// writes no file, leaves an old one as it was, and exits with status 130.
func TestBoundInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	writeFile(t, page, "old")
	stdout, stderr := interrupted(t, 0, "bound", worldFile(t, "xor3-mixed"), "--json", "--html", page, "--plots", filepath.Join(dir, "pictures"))
	if stderr != "mdmgen: interrupted\n" {
		t.Error(stderr)
	}
	var record struct {
		Interrupted bool
		Lines       []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(stdout), &record); err != nil || !record.Interrupted || len(record.Lines) == 0 {
		t.Errorf("%v: %s", err, stdout)
	}
	if got, files := readAll(t, page), reftest.Must(os.ReadDir(dir))(t); got != "old" || len(files) != 1 {
		t.Errorf("the old page holds %.100q among %v", got, files)
	}
}

// TestBoundResume ends a run after and within every chunk. The continued run must report the same
// as an uninterrupted one, with its seed.
func TestBoundResume(t *testing.T) {
	t.Parallel()
	c := shardedCommands(t)["bound exact"]
	args := c.args[:len(c.args)-3] // without its seed
	want := timeless(mustRun(t, "", c.args...))
	keep := filepath.Join(t.TempDir(), "keep.jsonl")
	mustRun(t, "", append(c.args[:len(c.args):len(c.args)], "--resume", keep)...)
	lines := strings.SplitAfter(readAll(t, keep), "\n")
	if len(lines) != 8 { // a header, 5 chunks, a footer, and nothing
		t.Fatalf("%d lines", len(lines))
	}
	for n := 1; n < len(lines); n++ {
		writeFile(t, keep, strings.Join(lines[:n], "")+lines[n][:len(lines[n])/2])
		if n < len(lines)-1 {
			refused(t, exit.Failure, "with --resume", "merge", keep)
		}
		if got := timeless(mustRun(t, "", append(args[:len(args):len(args)], "--json", "--resume", keep)...)); got != want {
			t.Errorf("after %d lines:\n%.1000s\nwant\n%.1000s", n, got, want)
		}
	}
	if _, stderr, code := runCommand(t, "", "merge", keep, "--format", "jsonl"); code != exit.Usage || !strings.Contains(stderr, "bound has") {
		t.Errorf("exit status %d: %s", code, stderr)
	}
	if got := timeless(mustRun(t, "", "merge", keep)); got != want {
		t.Errorf("merged:\n%.1000s\nwant\n%.1000s", got, want)
	}
}
