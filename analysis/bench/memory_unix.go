//go:build unix && !linux

package bench

import (
	"runtime"
	"syscall"
)

// resetPeak is not supported on this system.
func resetPeak() bool { return false }

// peak returns the process's peak of resident memory in bytes, 0 if it is unknown.
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
