//go:build !unix

package ort

// load does nothing: the system's loader finds CUDA's libraries.
func (r CUDA) load() {}

// loads is unused here: no libraries are searched for.
func loads(string) bool { return false }
