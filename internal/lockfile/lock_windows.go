package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// removesOpen reports that an open file cannot be removed.
const removesOpen = false

// held reports whether a file cannot be opened because another process has it open or is removing it.
func held(err error) bool { return errors.Is(err, windows.ERROR_SHARING_VIOLATION) }

// lock locks an open file for this process until it is closed or the process ends. It returns false
// if another process holds the lock. The locked byte is after all others, which stay readable.
func lock(f *os.File) (bool, error) {
	end := &windows.Overlapped{Offset: 1<<32 - 1, OffsetHigh: 1<<31 - 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, end)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
