//go:build unix

package app

import (
	"os"
	"os/signal"
	"syscall"
)

// failInstead makes a write to a pipe without readers, or beyond the maximum size of a file, fail
// with an error instead of ending the process, so that temporary files are removed and finished
// results are saved. Programs that this one starts keep the default handling, which they would not
// if the signals were ignored.
func failInstead() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ) }
