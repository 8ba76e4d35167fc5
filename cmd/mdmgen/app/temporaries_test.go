package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/lockfile"
	"mdmgen/internal/reftest"
)

// TestLeftTemporaries checks that the remains of a killed run are gone after the next run that
// writes the file, and that a run does not take a running one's file.
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
	// A running process has its temporary file locked; a killed one has no lock.
	living := reftest.Must(lockfile.OpenAlone(file+kit.Unfinished, os.O_CREATE|os.O_RDWR, 0o666))(t)
	reftest.Must(living.WriteString("left"))(t)
	refused(t, exit.Failure, "another run is writing to it", args...)
	reftest.OK(t, living.Close())
	mustRun(t, "", args...)
	only()
}
