package lockfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// OpenAlone opens a file as [os.OpenFile] does, and makes it this process's alone, as far as
// others ask in the same way, until it is closed or the process ends, however it ends;
// [ErrHeld] where another has it.
func OpenAlone(path string, flag int, mode fs.FileMode) (*os.File, error) {
	for tries := 0; ; {
		f, err := os.OpenFile(path, flag, mode)
		got := false
		if err == nil {
			got, err = lock(f)
			if got && err == nil && isAt(f, path) {
				return f, nil
			}
			f.Close()
		} else if held(err) {
			err = nil
		}
		switch {
		case err != nil:
			return nil, err
		case !got && tries == 10:
			return nil, ErrHeld
		case !got:
			// A process that is just being started has the files of the one that starts it for a moment.
			tries++
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// isAt reports whether a path leads to an open file: who had its lock may have removed it between
// its opening and its locking.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	now, nerr := os.Stat(path)
	return err == nil && nerr == nil && os.SameFile(mine, now)
}

// Remove removes a file that is this process's alone, and closes it. A system that removes no open
// file has it removed after, unless another has opened it since.
func Remove(f *os.File) error {
	if removesOpen {
		_ = os.Remove(f.Name())
		return f.Close()
	}
	err := f.Close()
	_ = os.Remove(f.Name())
	return err
}

// Rename gives a file that is this process's alone another name, and closes it: nobody else can
// take it before it has the name.
func Rename(f *os.File, path string) error {
	err := os.Rename(f.Name(), path)
	cerr := f.Close()
	if err != nil && cerr == nil { // Not every system renames an open file.
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // Not every system can.
		dir.Close()
	}
	return cerr
}
