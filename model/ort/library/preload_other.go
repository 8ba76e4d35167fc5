//go:build !unix

package library

// Load does nothing: the system's loader finds CUDA's libraries.
func (r CUDA) Load() {}

// loads is unused here: no libraries are searched for.
func loads(string) bool { return false }
