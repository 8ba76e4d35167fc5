package kit

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"mdmgen/internal/lockfile"
)

// Temporary makes a file beside path for what will take its place: path.N.tmp, locked while
// the process lives. Those that killed runs left there are removed.
func Temporary(path string, mode os.FileMode) (*os.File, error) {
	sweep(path)
	for {
		name := fmt.Sprintf("%s.%d.tmp", path, rand.Uint32())
		f, err := lockfile.OpenAlone(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode|0o200)
		// Another run may have that name, or take it for one that was left.
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, lockfile.ErrHeld) {
			return f, err
		}
	}
}

// sweep removes the temporary files of path that no process has locked.
func sweep(path string) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // That nothing can be written there is found out by who does.
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !IsTemporary(e.Name(), base) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		f, err := lockfile.OpenAlone(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		os.Remove(name)
		f.Close()
	}
}

// IsTemporary says whether a name is base.N.tmp.
func IsTemporary(name, base string) bool {
	middle, ok := strings.CutPrefix(name, base+".")
	if ok {
		middle, ok = strings.CutSuffix(middle, ".tmp")
	}
	return ok && middle != "" && len(middle) <= 10 && strings.Trim(middle, "0123456789") == ""
}
