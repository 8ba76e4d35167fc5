package journal

import (
	"fmt"

	"mdmgen/internal/plainfile"
)

// RefusedError is the error of a file that is not the journal of the run: another wrote it, or it
// was changed. The file is left as it was.
type RefusedError struct {
	Path string
	// Line counts from 1; 0 where the fault is in no line.
	Line   int
	Reason string
}

func (e *RefusedError) Error() string {
	if e.Line == 0 {
		return e.Path + ": " + e.Reason
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Reason)
}

func (j *Journal) refuse(line int, reason string) error { return &RefusedError{j.path, line, reason} }

// failed names the file before an error.
func (j *Journal) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", j.path, plainfile.Cause(err))
}
