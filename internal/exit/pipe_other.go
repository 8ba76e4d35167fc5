//go:build !windows

package exit

import "syscall"

// pipeErrors are those of a write that nobody reads.
var pipeErrors = []error{syscall.EPIPE}
