package exit

import (
	"fmt"
	"testing"

	"golang.org/x/sys/windows"
)

// TestPipeErrors: which of the system's errors a write meets depends on how far the reader has gone.
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
