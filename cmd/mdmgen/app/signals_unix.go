//go:build unix

package app

import (
	"os"
	"os/signal"
	"syscall"
)

// failInstead has a write to a pipe that nobody reads, or beyond the greatest size of a file,
// fail with an error, as any other, in place of ending the process where it is: temporary
// files are removed, and what can be saved is. Programs that this one starts are not
// concerned, as they would be if the signals were ignored.
func failInstead() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ) }
