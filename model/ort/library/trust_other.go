//go:build !unix

package library

// trusted checks nothing on systems whose files have access lists instead of owners and modes.
func trusted(string) error { return nil }
