package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// removesOpen: a file that is open cannot be removed.
const removesOpen = false

// held reports whether a file cannot be opened because another has it or removes it.
func held(err error) bool { return errors.Is(err, windows.ERROR_SHARING_VIOLATION) }

// lock makes an open file this process's alone until it is closed or the process ends; false where
// another has it. The byte that is locked is behind all others, which stay readable.
func lock(f *os.File) (bool, error) {
	end := &windows.Overlapped{Offset: 1<<32 - 1, OffsetHigh: 1<<31 - 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, end)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
