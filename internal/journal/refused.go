package journal

import (
	"fmt"

	"mdmgen/internal/plainfile"
)

// RefusedError is the error of a file that is not the journal of the run, or that was changed. The
// file is not modified.
type RefusedError struct {
	Path string
	// Line counts from 1; it is 0 if the fault is not in a line.
	Line   int
	Reason string
}

// Error implements error.
func (e *RefusedError) Error() string {
	if e.Line == 0 {
		return e.Path + ": " + e.Reason
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Reason)
}

func (j *Journal) refuse(line int, reason string) error { return &RefusedError{j.path, line, reason} }

// failed prefixes an error with the file's name.
func (j *Journal) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", j.path, plainfile.Cause(err))
}
