//go:build !unix || !cgo

package app

// stdoutClosed returns false: writing fails if there is no standard output.
func stdoutClosed() bool { return false }
