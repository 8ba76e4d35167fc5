//go:build linux || darwin

package stamp

import (
	"os"

	"golang.org/x/sys/unix"
)

func markOf(f *os.File) (mark, error) {
	var s unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &s)
	return mark{s.Size, s.Mtim.Nano(), s.Ctim.Nano(), uint64(s.Dev), s.Ino}, err
}
