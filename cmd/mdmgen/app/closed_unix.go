//go:build unix && cgo

package app

/*
#include <fcntl.h>

static int closed;

__attribute__((constructor)) static void look(void) { closed = fcntl(1, F_GETFD) == -1; }

static int stdoutClosed(void) { return closed; }
*/
import "C"

// stdoutClosed reports whether the program was started without a standard output. The C code checks
// before Go's runtime opens /dev/null in its place.
func stdoutClosed() bool { return C.stdoutClosed() != 0 }
