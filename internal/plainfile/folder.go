package plainfile

import (
	"io/fs"
	"path/filepath"
)

// Folder is a folder as a file system of its regular files. Names that lead out of it, see
// [Inside], and files that are not regular cannot be opened.
type Folder string

// Open opens a file; its name has slashes, as in [fs.FS].
func (d Folder) Open(name string) (fs.File, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

func (d Folder) open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	path, err := Inside(string(d), filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	return Open(path)
}

// ReadFS reads a file of at most limit bytes from any file system.
func ReadFS(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, Cause(err)
	}
	defer f.Close()
	return ReadAll(f, limit)
}
