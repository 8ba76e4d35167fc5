//go:build unix

package plainfile

import (
	"os"
	"syscall"
)

// open opens a file without waiting for the other end of a pipe.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}
