package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// studyBlock is a block of docs/benchmarks.md: a command, over several lines, and what it
// printed.
var studyBlock = regexp.MustCompile("(?s)```sh\n\\$ (mdmgen .*?[^\\\\])\n(.*?)```\n")

// TestBenchmarksPage begins every command of docs/benchmarks.md, so that none is there that
// the program refuses; what is printed without a clock is compared, byte by byte.
func TestBenchmarksPage(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := studyBlock.FindAllStringSubmatch(string(text), -1)
	if want := strings.Count(string(text), "```sh\n"); len(blocks) != want || want == 0 {
		t.Fatalf("%d of %d blocks are commands", len(blocks), want)
	}
	t.Chdir(root)
	for _, b := range blocks {
		var args []string
		for i, part := range strings.Split(strings.ReplaceAll(b[1], "\\\n", " "), "'") {
			if i%2 == 1 {
				args = append(args, part)
			} else {
				args = append(args, strings.Fields(part)...)
			}
		}
		args = args[1:]
		if args[0] != "bench" {
			if got := mustRun(t, "", args...); got != b[2] {
				t.Errorf("%s printed\n%swant\n%s", b[1], got, b[2])
			}
			continue
		}
		for i, a := range args {
			if i > 0 && args[i-1] == "--plots" {
				args[i] = t.TempDir()
				if _, err := os.Stat(a); err != nil {
					t.Errorf("%s: the pictures are not there: %v", b[1], err)
				}
			}
		}
		// A slow machine may not have the model open in time; flags are read before.
		_, stderr, code := runCommand(t, "", append(args, "--max-time", "1s")...)
		if code != exitOK && !strings.Contains(stderr, "before the model is open") {
			t.Errorf("%s: exit status %d: %s", b[1], code, stderr)
		}
		if !strings.Contains(b[2], "| calls") && !strings.Contains(b[2], " calls |") {
			t.Errorf("%s: no results stand there: go run ./internal/study", b[1])
		}
	}
}
