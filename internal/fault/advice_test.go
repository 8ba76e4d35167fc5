package fault_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"mdmgen/internal/fault"
)

func TestSpell(t *testing.T) {
	flag := func(t fault.Term) string { return "--" + t.Name + " " + t.Value }
	inner := fault.Advise("%w: leave out %v", io.EOF, fault.Term{Name: "dtype", Value: "int8"})
	for _, c := range []struct {
		err         error
		full, plain string
	}{
		{io.EOF, "EOF", "EOF"},
		{inner, "EOF: leave out dtype=int8", "EOF: leave out --dtype int8"},
		{fmt.Errorf("a: %w, twice", inner), "a: EOF: leave out dtype=int8, twice", "a: EOF: leave out --dtype int8, twice"},
		{errors.Join(io.ErrClosedPipe, inner), "io: read/write on closed pipe\nEOF: leave out dtype=int8", "io: read/write on closed pipe\nEOF: leave out --dtype int8"},
		{fault.WithoutName(fault.Errorf("model", "m: %w", inner)), "m: EOF: leave out dtype=int8", "m: EOF: leave out --dtype int8"},
		{fault.Advise("%v (%v)", inner, fault.Term{Name: "offline"}), "EOF: leave out dtype=int8 (offline)", "EOF: leave out --dtype int8 (--offline )"},
	} {
		spelled := fault.Spelled(c.err, flag)
		if c.err.Error() != c.full || spelled.Error() != c.plain || fault.Spell(c.err, nil) != c.full {
			t.Errorf("%q and %q, want %q and %q", c.err, spelled, c.full, c.plain)
		}
		if errors.Is(c.err, io.EOF) != errors.Is(spelled, io.EOF) {
			t.Errorf("%q: does not wrap its cause", c.err)
		}
	}
}
