package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

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
