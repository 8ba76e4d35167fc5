package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
)

// TestLeftTemporaries: what a killed run left beside a file is gone after the next run that writes
// the file; a run does not take what a living one writes.
func TestLeftTemporaries(t *testing.T) {
	t.Parallel()
	world := worldFile(t, "xor3-mixed")
	dir := t.TempDir()
	file := filepath.Join(dir, "out.json")
	args := []string{"generate", "--model", world, "--seed", "1", "--format", "ids", "-o", file}
	writeFile(t, file+kit.Unfinished, strings.Repeat("left", 1000))
	mustRun(t, "", args...)
	whole := readAll(t, file)
	only := func() {
		t.Helper()
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || readAll(t, file) != whole || strings.Contains(whole, "left") {
			t.Errorf("%v, %v: %.100s", entries, err, readAll(t, file))
		}
	}
	only()
	slow := exec.Command("mdmgen", append(args, "-n", "100000000")...)
	if err := slow.Start(); err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		if f, err := os.Stat(file + kit.Unfinished); err == nil && f.Size() > 0 { // written to, so locked
			break
		}
		time.Sleep(time.Millisecond)
	}
	if _, stderr, code := runCommand(t, "", args...); code != exit.Failure || !strings.Contains(stderr, "another run is writing to it") {
		t.Errorf("beside a run that lives: exit status %d: %s", code, stderr)
	}
	slow.Process.Kill()
	slow.Wait()
	mustRun(t, "", args...)
	only()
}
