package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/cli/exit"
	"mdmgen/internal/study/page"
)

// TestBenchmarksPage begins every command of docs/benchmarks.md, so that none is there that
// the program refuses; what is printed without a clock is compared, byte by byte.
func TestBenchmarksPage(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	text, err := os.ReadFile(page.Path)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := page.Read(string(text))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("%d commands, %v", len(blocks), err)
	}
	for _, b := range blocks {
		args := b.Args
		if args[0] != "bench" {
			if got := mustRun(t, "", args...); got != b.Output {
				t.Errorf("%s printed\n%swant\n%s", b.Command, got, b.Output)
			}
			continue
		}
		for i, a := range args {
			if i > 0 && args[i-1] == "--plots" {
				args[i] = t.TempDir()
				if _, err := os.Stat(a); err != nil {
					t.Errorf("%s: the pictures are not there: %v", b.Command, err)
				}
			}
		}
		// A slow machine may not have the model open in time; flags are read before.
		_, stderr, code := runCommand(t, "", append(args, "--max-time", "500ms")...)
		if code != exit.OK && !strings.Contains(stderr, "before the model is open") {
			t.Errorf("%s: exit status %d: %s", b.Command, code, stderr)
		}
		if !strings.Contains(b.Output, "| calls") && !strings.Contains(b.Output, " calls |") {
			t.Errorf("%s: no results stand there: go run ./internal/study", b.Command)
		}
	}
}
