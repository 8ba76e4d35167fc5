package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"mdmgen/internal/journal"
)

// temporary makes a file beside path for what will take its place: path.N.tmp, locked while
// the process lives. Those that killed runs left there are removed.
func temporary(path string, mode os.FileMode) (*os.File, error) {
	sweep(path)
	for {
		name := fmt.Sprintf("%s.%d.tmp", path, rand.Uint32())
		f, err := journal.OpenAlone(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode|0o200)
		switch {
		case errors.Is(err, fs.ErrExist), errors.Is(err, journal.ErrInUse):
			continue // Another run has that name, or takes it for one that was left.
		case err != nil:
			return nil, err
		case isAt(f, name):
			return f, nil
		}
		f.Close() // Another run removed it before it was locked.
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
		if !e.Type().IsRegular() || !isTemporary(e.Name(), base) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		f, err := journal.OpenAlone(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if isAt(f, name) {
			os.Remove(name)
		}
		f.Close()
	}
}

// isTemporary says whether a name is base.N.tmp.
func isTemporary(name, base string) bool {
	middle, ok := strings.CutPrefix(name, base+".")
	if ok {
		middle, ok = strings.CutSuffix(middle, ".tmp")
	}
	return ok && middle != "" && len(middle) <= 10 && strings.Trim(middle, "0123456789") == ""
}

// isAt says whether a name leads to the open file.
func isAt(f *os.File, name string) bool {
	a, aerr := f.Stat()
	b, berr := os.Lstat(name)
	return aerr == nil && berr == nil && os.SameFile(a, b)
}
