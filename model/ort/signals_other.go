//go:build !unix

package ort

// keepingSignals calls f.
func keepingSignals(f func() error) error { return f() }
