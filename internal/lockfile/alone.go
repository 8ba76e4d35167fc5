package lockfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// OpenAlone opens a file like [os.OpenFile], and locks it for this process until it is closed or
// the process ends, in any way. The lock affects only those who open the file with OpenAlone; they
// get [ErrHeld].
func OpenAlone(path string, flag int, mode fs.FileMode) (*os.File, error) {
	for range 11 {
		f, err := os.OpenFile(path, flag, mode)
		if err == nil {
			var got bool
			got, err = lock(f)
			if got && err == nil && isAt(f, path) {
				return f, nil
			}
			f.Close()
		} else if held(err) {
			err = nil
		}
		if err != nil {
			return nil, err
		}
		// A process that is being started briefly shares the open files of its parent.
		time.Sleep(5 * time.Millisecond)
	}
	return nil, ErrHeld
}

// isAt reports whether a path leads to an open file: the previous holder of its lock may have
// removed it between opening and locking.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	now, nerr := os.Stat(path)
	return err == nil && nerr == nil && os.SameFile(mine, now)
}

// Remove removes a file opened by OpenAlone, and closes it. On systems that cannot remove an open
// file it is removed afterwards, unless another process has opened it meanwhile.
func Remove(f *os.File) error {
	if removesOpen {
		_ = os.Remove(f.Name())
		return f.Close()
	}
	err := f.Close()
	_ = os.Remove(f.Name())
	return err
}

// Rename renames a file opened by OpenAlone, and closes it. Nobody else can lock it before it has
// the new name.
func Rename(f *os.File, path string) error {
	err := os.Rename(f.Name(), path)
	cerr := f.Close()
	if err != nil && cerr == nil { // Some systems cannot rename an open file.
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // Some systems cannot.
		dir.Close()
	}
	return cerr
}
