//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lockfile

import (
	"errors"
	"os"
	"syscall"
)

// removesOpen reports that an open file can be removed.
const removesOpen = true

// held reports false, since an open file can be opened again.
func held(error) bool { return false }

// lock locks an open file for this process until it is closed or the process ends, in any way. It
// returns false if another process holds the lock. On a file system without locks it succeeds.
func lock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOLCK):
			return true, nil
		default:
			return err == nil, err
		}
	}
}
