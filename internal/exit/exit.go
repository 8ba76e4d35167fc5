// Package exit defines the program's exit statuses, the errors that carry one, and the message that
// a user sees for an error.
package exit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mdmgen/internal/printable"
)

// The exit statuses, which scripts rely on.
const (
	OK        = 0   // success
	Failure   = 1   // any other error
	Usage     = 2   // an invalid command line
	Invalid   = 3   // invalid input, or a failed check
	Missing   = 4   // a file, model or library is missing
	Interrupt = 130 // the run was interrupted
	Pipe      = 141 // the reader of standard output went away: a shell's status for SIGPIPE
)

// Error is an error with an exit status.
type Error struct {
	Code int
	Err  error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Usagef returns an error for an invalid command line.
func Usagef(format string, args ...any) error {
	return &Error{Usage, fmt.Errorf(format, args...)}
}

// Missingf returns an error for a missing model, tokenizer or library.
func Missingf(format string, args ...any) error {
	return &Error{Missing, fmt.Errorf(format, args...)}
}

// Invalidf returns an error for a validation that ran and failed.
func Invalidf(format string, args ...any) error {
	return &Error{Invalid, fmt.Errorf(format, args...)}
}

// Coded reports whether an error carries an exit status.
func Coded(err error) bool {
	var coded *Error
	return errors.As(err, &coded)
}

// Code returns the exit status of an error. An error with a method Missing means that something is
// missing, one with a method Usage that the command line is at fault.
func Code(err error) int {
	var coded *Error
	switch {
	case err == nil:
		return OK
	case onlyPipe(err):
		return Pipe
	case errors.As(err, &coded):
		return coded.Code
	case errors.As(err, new(interface{ Missing() })):
		return Missing
	case errors.As(err, new(interface{ Usage() })):
		return Usage
	case errors.Is(err, context.Canceled):
		return Interrupt
	}
	return Failure
}

// Message returns the message for the user in one line, or "" if only the reader of standard output
// went away.
func Message(err error) string {
	if onlyPipe(err) {
		return ""
	}
	if Code(err) == Interrupt {
		return "interrupted"
	}
	return printable.String(strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}

// onlyPipe reports whether a reader went away and nothing else failed.
func onlyPipe(err error) bool {
	switch x := err.(type) {
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(x.Unwrap(), func(e error) bool { return !onlyPipe(e) })
	case interface{ Unwrap() error }:
		return onlyPipe(x.Unwrap())
	}
	return slices.Contains(pipeErrors, err)
}
