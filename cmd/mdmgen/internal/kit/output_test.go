package kit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/reftest"
)

// TestReadOnly checks that a read-only file is not replaced, and stays read-only.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "old.json")
	reftest.OK(t, os.WriteFile(path, []byte("old"), 0o444))
	if out, err := kit.NewOutput(t.Context(), kit.OutputTerm, path, kit.Streams{}); err == nil || !strings.Contains(err.Error(), "output "+path+": is read-only") {
		out.Discard()
		t.Errorf("%v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
