//go:build !linux && !darwin

package sysinfo

// Disk is unknown on this system.
func Disk(string) (uint64, bool) { return 0, false }

// Files is unknown on this system.
func Files() uint64 { return 0 }
