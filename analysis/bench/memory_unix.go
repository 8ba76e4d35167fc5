//go:build unix && !linux

package bench

import (
	"runtime"
	"syscall"
)

func resetPeak() {}

// PeakScope says since when peaks of memory were counted.
func PeakScope() string { return "process" }

// peak reads the process's peak of resident memory in bytes, 0 where it is not told.
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
