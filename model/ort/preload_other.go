//go:build !unix

package ort

// load leaves it to the system's loader to find the libraries of CUDA.
func (r CUDA) load() {}

// loads is for systems whose libraries are looked for.
func loads(string) bool { return false }
