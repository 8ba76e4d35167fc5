package app

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"mdmgen/cmd/mdmgen/internal/kit"
)

// TestLeftTemporaries: what killed runs left beside a file is removed by the next run that
// writes it, and what a living run has open is not, nor anything else.
func TestLeftTemporaries(t *testing.T) {
	t.Parallel()
	world := worldFile(t, "xor3-mixed")
	dir := t.TempDir()
	file := filepath.Join(dir, "out.json")
	kept := []string{"out.json.tmp", "out.json.12a.tmp", "out.json.1.tmp.txt", "other.json.7.tmp", "xout.json.7.tmp", "out.json.99999999999.tmp"}
	for _, name := range append([]string{"out.json.7.tmp", "out.json.4294967295.tmp"}, kept...) {
		writeFile(t, filepath.Join(dir, name), "left")
	}
	live, err := kit.Temporary(file, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	mustRun(t, "", "generate", "--model", world, "--seed", "1", "--format", "ids", "-o", file)
	for _, name := range append(kept, "out.json", filepath.Base(live.Name())) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"out.json.7.tmp", "out.json.4294967295.tmp"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	// A run that is killed leaves its own, which the next removes.
	slow := exec.Command("mdmgen", "generate", "--model", world, "--seed", "1", "--format", "ids", "-n", "100000000", "-o", file)
	if err := slow.Start(); err != nil {
		t.Fatal(err)
	}
	mine := func() (n int) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if kit.IsTemporary(e.Name(), "out.json") && e.Name() != filepath.Base(live.Name()) {
				n++
			}
		}
		return n
	}
	for range 3000 {
		if mine() > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	mustRun(t, "", "generate", "--model", world, "--seed", "1", "--format", "ids", "-o", file)
	if n := mine(); n != 1 {
		t.Errorf("%d temporary files of a run that lives", n)
	}
	slow.Process.Kill()
	slow.Wait()
	mustRun(t, "", "generate", "--model", world, "--seed", "1", "--format", "ids", "-o", file)
	if n := mine(); n != 0 {
		t.Errorf("%d temporary files of a run that was killed", n)
	}
}
