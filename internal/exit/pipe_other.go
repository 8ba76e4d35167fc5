//go:build !windows

package exit

import "syscall"

// pipeErrors are the errors of a write to a pipe without a reader.
var pipeErrors = []error{syscall.EPIPE}
