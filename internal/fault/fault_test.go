package fault_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"mdmgen/internal/fault"
)

func TestPlain(t *testing.T) {
	inner := fault.Errorf("samplers", "%d steps: %w", 0, io.EOF)
	for _, c := range []struct {
		err         error
		full, plain string
	}{
		{io.EOF, "EOF", "EOF"},
		{inner, "samplers: 0 steps: EOF", "0 steps: EOF"},
		{fault.Errorf("bench", "cell %s: %w", "a: b", inner), "bench: cell a: b: samplers: 0 steps: EOF", "cell a: b: 0 steps: EOF"},
		{fmt.Errorf("samplers: a text of its own: %w", inner), "samplers: a text of its own: samplers: 0 steps: EOF", "samplers: a text of its own: 0 steps: EOF"},
		{fmt.Errorf("%w, at the end", inner), "samplers: 0 steps: EOF, at the end", "samplers: 0 steps: EOF, at the end"},
	} {
		if c.err.Error() != c.full || fault.Plain(c.err) != c.plain || fault.WithoutName(c.err).Error() != c.plain {
			t.Errorf("%q and %q, want %q and %q", c.err, fault.Plain(c.err), c.full, c.plain)
		}
		if !errors.Is(fault.WithoutName(c.err), io.EOF) {
			t.Errorf("%q: does not wrap its cause", c.err)
		}
	}
}
