package exit

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// pipeErrors are the errors of a write to a pipe without a reader.
var pipeErrors = []error{syscall.EPIPE, windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA, windows.ERROR_PIPE_NOT_CONNECTED}
