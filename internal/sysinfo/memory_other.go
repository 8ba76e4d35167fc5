//go:build !unix

package sysinfo

// ResetPeak is not supported on this system.
func ResetPeak() bool { return false }

// PeakMemory is unknown on this system.
func PeakMemory() int64 { return 0 }
