package cachedir

import (
	"path/filepath"
	"testing"
)

func TestPath(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("MDMGEN_CACHE", "")
	if got, err := Path(); err != nil || got != filepath.Join(dir, "mdmgen") {
		t.Errorf("Path = %q, %v", got, err)
	}
	t.Setenv("MDMGEN_CACHE", filepath.Join(dir, "mine"))
	if got, err := Path(); err != nil || got != filepath.Join(dir, "mine") {
		t.Errorf("Path = %q, %v", got, err)
	}
}
