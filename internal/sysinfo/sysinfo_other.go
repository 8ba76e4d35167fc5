//go:build !linux

package sysinfo

// Memory is unknown on this system.
func Memory() (uint64, bool) { return 0, false }

// Free is unknown on this system.
func Free() (uint64, bool) { return 0, false }
