//go:build !unix

package bench

// resetPeak cannot be done here.
func resetPeak() bool { return false }

// peak is not known here.
func peak() int64 { return 0 }
