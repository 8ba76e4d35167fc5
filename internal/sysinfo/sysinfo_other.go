//go:build !linux

package sysinfo

// Memory is unknown here.
func Memory() (uint64, bool) { return 0, false }
