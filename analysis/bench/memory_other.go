//go:build !unix

package bench

func resetPeak() {}

// PeakScope says since when peaks of memory were counted.
func PeakScope() string { return "process" }

// peak is not known here.
func peak() int64 { return 0 }
