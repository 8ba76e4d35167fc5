package exit_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
)

// TestPipeMessage checks that a reader that went away gives no message, and that other errors do.
func TestPipeMessage(t *testing.T) {
	pipe := fmt.Errorf("standard output: %w", syscall.EPIPE)
	other := errors.New("no space left on device")
	for _, c := range []struct {
		err  error
		want string
	}{
		{pipe, ""}, {fault.WithoutName(errors.Join(pipe, pipe)), ""}, {errors.Join(other, pipe), "no space left on device; standard output: broken pipe"}, {other, "no space left on device"},
	} {
		if got := exit.Message(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
