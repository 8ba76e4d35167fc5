package hub

import (
	"fmt"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
)

// MissingError reports that something does not exist or cannot be obtained: no such repository,
// revision or file, no permission to read it, no connection. The message is one line.
type MissingError struct{ Msg string }

// Error implements error.
func (e *MissingError) Error() string { return e.Msg }

// Missing marks the error for exit statuses.
func (*MissingError) Missing() {}

// onPath prefixes an error with a path of the cache; nil stays nil.
func onPath(path string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Errorf("hub", "%s: %w", path, plainfile.Cause(err))
}

func missingf(format string, args ...any) error { return &MissingError{fmt.Sprintf(format, args...)} }
