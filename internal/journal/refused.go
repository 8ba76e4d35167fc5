package journal

import (
	"fmt"

	"mdmgen/internal/plainfile"
)

// RefusedError says that a file is not the journal of the run: another wrote it, or it was
// changed. The file is as it was.
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

// advice is text for who writes to the file; what a reader is to do depends on why it reads.
func (j *Journal) advice(text string) string {
	if j.reader {
		return ""
	}
	return text
}

func (j *Journal) refuse(line int, reason string) error { return &RefusedError{j.path, line, reason} }

// failed names the file before an error.
func (j *Journal) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", j.path, plainfile.Cause(err))
}
