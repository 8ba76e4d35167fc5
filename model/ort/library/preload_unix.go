//go:build unix

package library

/*
#include <dlfcn.h>
#include <stdlib.h>

// load_global loads a library for good, for those that are linked with it by its name.
static int load_global(const char *path) { return dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL; }
*/
import "C"

import (
	"os"
	"path/filepath"
	"unsafe"
)

// Load loads the CUDA libraries from where they were found: the system's loader does not look into
// Python packages, but uses a library of the right name that the process has already loaded. Errors
// are ignored, since the loader reports them later.
func (r CUDA) Load() {
	done := map[string]bool{}
	for _, path := range r.libraries {
		r.preload(path, done)
	}
}

// preload loads a library after the libraries that it is linked with.
func (r CUDA) preload(path string, done map[string]bool) {
	if done[filepath.Base(path)] {
		return
	}
	done[filepath.Base(path)] = true
	for _, name := range imported(path) {
		for _, other := range r.libraries {
			beside := filepath.Join(filepath.Dir(other), name)
			if _, err := os.Stat(beside); nvidia.MatchString(name) && err == nil && trusted(beside) == nil {
				r.preload(beside, done)
				break
			}
		}
	}
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	C.load_global(text)
}

// loads reports whether the system's loader finds a library, which then stays loaded.
func loads(name string) bool {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return C.load_global(text) != 0
}
