//go:build !unix || !cgo

package app

// stdoutClosed reports nothing here: writing fails where there is no standard output.
func stdoutClosed() bool { return false }
