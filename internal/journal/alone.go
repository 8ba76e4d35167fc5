package journal

import (
	"errors"
	"io/fs"
	"os"
)

// ErrInUse says that another process has a file to itself.
var ErrInUse = errors.New("another run is writing to it: let that one end, or name another file")

// OpenAlone opens a file as [os.OpenFile] does, and makes it this process's alone, as far as
// others ask in the same way, until it is closed or the process ends, however it ends;
// [ErrInUse] where another has it.
func OpenAlone(path string, flag int, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag, mode)
	if err != nil {
		return nil, err
	}
	got, err := lock(f)
	if err == nil && !got {
		err = ErrInUse
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
