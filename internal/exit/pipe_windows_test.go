package exit

import (
	"fmt"
	"testing"

	"golang.org/x/sys/windows"
)

// TestPipeErrors checks the errors of a write, which depend on when the reader went away.
func TestPipeErrors(t *testing.T) {
	for _, err := range []error{windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA, windows.ERROR_PIPE_NOT_CONNECTED} {
		if got := Message(fmt.Errorf("standard output: %w", err)); got != "" {
			t.Errorf("%v: %q, want no line", err, got)
		}
	}
	if got := Message(windows.ERROR_HANDLE_DISK_FULL); got == "" {
		t.Error("a full disk is not reported")
	}
}
