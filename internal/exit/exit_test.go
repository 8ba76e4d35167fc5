package exit_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
)

// TestPipeMessage checks that a reader that went away gives no message and a status of its own, and that
// other errors do not.
func TestPipeMessage(t *testing.T) {
	pipe := fmt.Errorf("standard output: %w", syscall.EPIPE)
	other := errors.New("no space left on device")
	for _, c := range []struct {
		err  error
		want string
	}{
		{pipe, ""}, {fault.WithoutName(errors.Join(pipe, pipe)), ""}, {errors.Join(other, pipe), "no space left on device; standard output: broken pipe"}, {other, "no space left on device"},
	} {
		if got, code := exit.Message(c.err), exit.Code(c.err); got != c.want || (code == exit.Pipe) != (got == "") {
			t.Errorf("%v: %q, exit status %d, want %q", c.err, got, code, c.want)
		}
	}
}
