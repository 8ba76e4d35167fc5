package hub

import (
	"fmt"
)

// MissingError says that something is not there, or cannot be had: no such repository,
// revision or file, no right to read it, no connection. The message is one line.
type MissingError struct{ Msg string }

func (e *MissingError) Error() string { return e.Msg }

func missingf(format string, args ...any) error { return &MissingError{fmt.Sprintf(format, args...)} }
