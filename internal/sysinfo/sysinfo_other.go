//go:build !linux

package sysinfo

// Memory, Free and Resident are unknown here.
func Memory() (uint64, bool)   { return 0, false }
func Free() (uint64, bool)     { return 0, false }
func Resident() (uint64, bool) { return 0, false }
