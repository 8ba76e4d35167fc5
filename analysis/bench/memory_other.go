//go:build !unix

package bench

// resetPeak is not supported on this system.
func resetPeak() bool { return false }

// peak is unknown on this system.
func peak() int64 { return 0 }
