//go:build unix && !linux

package sysinfo

import (
	"runtime"
	"syscall"
)

// ResetPeak is not supported on this system.
func ResetPeak() bool { return false }

// PeakMemory returns the process's peak of resident memory in bytes, 0 if it is unknown.
func PeakMemory() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
