package main

import (
	"fmt"
	"io"

	"mdmgen/internal/plainfile"
)

// standardOutput is where results are printed. It keeps its first failure, after which
// nothing is printed, and the command fails with it where it does not fail otherwise: a
// result that nobody got is no success.
type standardOutput struct {
	w   io.Writer
	err error
	// patient says that results go to files too: these are finished first, as if all had
	// been printed.
	patient bool
}

func (o *standardOutput) Write(p []byte) (int, error) {
	if o.err == nil {
		n, err := o.w.Write(p)
		if err == nil {
			return n, nil
		}
		o.err = fmt.Errorf("standard output: %w", plainfile.Cause(err))
	}
	if o.patient {
		return len(p), nil
	}
	return 0, o.err
}
