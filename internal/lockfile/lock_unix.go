//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lockfile

import (
	"errors"
	"os"
	"syscall"
)

// removesOpen: a file that is open can be removed.
const removesOpen = true

// held: an open file can be opened.
func held(error) bool { return false }

// lock makes an open file this process's alone, as far as others ask, until it is closed or
// the process ends, however it ends; false where another has it. A file system that has no
// locks is as one where nobody holds any.
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
