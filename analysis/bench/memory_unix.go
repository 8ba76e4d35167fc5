//go:build unix && !linux

package bench

import (
	"runtime"
	"syscall"
)

// resetPeak cannot be done here.
func resetPeak() bool { return false }

// peak reads the process's peak of resident memory in bytes, 0 where it is not known.
func peak() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
