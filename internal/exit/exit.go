// Package exit holds the exit statuses of the program, the errors that ask for one, and
// what a user reads of an error.
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
	OK        = 0
	Failure   = 1
	Usage     = 2
	Invalid   = 3
	Missing   = 4
	Interrupt = 130
)

// Error is an error with the exit status that it asks for.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Usagef reports a command line that cannot be obeyed.
func Usagef(format string, args ...any) error {
	return &Error{Usage, fmt.Errorf(format, args...)}
}

// Missingf reports a model, tokenizer or library that is not there.
func Missingf(format string, args ...any) error {
	return &Error{Missing, fmt.Errorf(format, args...)}
}

// Invalidf reports a validation that ran and failed.
func Invalidf(format string, args ...any) error {
	return &Error{Invalid, fmt.Errorf(format, args...)}
}

// Coded reports whether an error asks for an exit status of its own.
func Coded(err error) bool {
	var coded *Error
	return errors.As(err, &coded)
}

// Code maps an error to the exit status. An error with a method Missing is about what is not there.
func Code(err error) int {
	var coded *Error
	var missing interface{ Missing() }
	switch {
	case err == nil:
		return OK
	case errors.As(err, &coded):
		return coded.Code
	case errors.As(err, &missing):
		return Missing
	case errors.Is(err, context.Canceled):
		return Interrupt
	}
	return Failure
}

// Message is what the user reads of err: one line, or nothing where a reader of
// standard output went away.
func Message(err error) string {
	if onlyPipe(err) {
		return ""
	}
	if Code(err) == Interrupt {
		return "interrupted"
	}
	return printable.String(strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}

// onlyPipe reports whether a reader went away and nothing else went wrong.
func onlyPipe(err error) bool {
	switch x := err.(type) {
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(x.Unwrap(), func(e error) bool { return !onlyPipe(e) })
	case interface{ Unwrap() error }:
		return onlyPipe(x.Unwrap())
	}
	return slices.Contains(pipeErrors, err)
}
