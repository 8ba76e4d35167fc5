package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing/fstest"
	"time"

	"mdmgen/tools/internal/fatal"
)

// A tree holds the files of an archive. Owners, modes and times are the same on any machine.
type tree struct {
	files fstest.MapFS
	date  time.Time
}

func (t tree) put(name string, data []byte) {
	mode := fs.FileMode(0o644)
	if strings.Contains(name, "/bin/") || path.Ext(name) == ".sh" {
		mode = 0o755
	}
	t.files[name] = &fstest.MapFile{Data: data, Mode: mode, ModTime: t.date}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		t.files[dir] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: t.date}
	}
}

// add puts the files of a folder whose paths match an expression into a folder of the tree, and
// returns their number.
func (t tree) add(to, folder, match string) (n int) {
	from, named := os.DirFS(folder), regexp.MustCompile(match)
	fatal.Check(fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && named.MatchString(name) {
			t.put(path.Join(to, name), fatal.Must(fs.ReadFile(from, name)))
			n++
		}
		return err
	}))
	return n
}

func (t tree) tar(to string) {
	f := fatal.Must(os.Create(to))
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	fatal.Check(errors.Join(w.AddFS(t.files), w.Close(), z.Close(), f.Close()))
}

func (t tree) zip(to string) {
	f := fatal.Must(os.Create(to))
	w := zip.NewWriter(f)
	fatal.Check(errors.Join(w.AddFS(t.files), w.Close(), f.Close()))
}
