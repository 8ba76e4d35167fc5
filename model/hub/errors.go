package hub

import (
	"fmt"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
)

// MissingError reports that something is not there, or cannot be had: no such repository,
// revision or file, no right to read it, no connection. The message is one line.
type MissingError struct{ Msg string }

func (e *MissingError) Error() string { return e.Msg }

// Missing marks the error for exit statuses.
func (*MissingError) Missing() {}

// onPath puts a path of the cache before an error; nil stays nil.
func onPath(path string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Errorf("hub", "%s: %w", path, plainfile.Cause(err))
}

func missingf(format string, args ...any) error { return &MissingError{fmt.Sprintf(format, args...)} }
