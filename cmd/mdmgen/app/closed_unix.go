//go:build unix && cgo

package app

/*
#include <fcntl.h>

static int closed;

__attribute__((constructor)) static void look(void) { closed = fcntl(1, F_GETFD) == -1; }

static int stdoutClosed(void) { return closed; }
*/
import "C"

// stdoutClosed reports whether the program was begun without a standard output. C looks before Go's
// runtime puts /dev/null in its place.
func stdoutClosed() bool { return C.stdoutClosed() != 0 }
