package kit

import (
	"fmt"
	"io"

	"mdmgen/internal/plainfile"
)

// StandardOutput is where results are printed. It keeps its first failure, after which
// nothing is printed, and the command fails with it where it does not fail otherwise: a
// result that nobody got is no success.
type StandardOutput struct {
	W   io.Writer
	Err error
	// Patient says that results go to files too: these are finished first, as if all had
	// been printed.
	Patient bool
}

func (o *StandardOutput) Write(p []byte) (int, error) {
	if o.Err == nil {
		n, err := o.W.Write(p)
		if err == nil {
			return n, nil
		}
		o.Err = fmt.Errorf("standard output: %w", plainfile.Cause(err))
	}
	if o.Patient {
		return len(p), nil
	}
	return 0, o.Err
}
