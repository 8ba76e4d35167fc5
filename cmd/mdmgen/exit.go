package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"mdmgen/internal/printable"
	"mdmgen/model"
	"mdmgen/model/ort"
)

// The exit statuses, which scripts rely on.
const (
	exitOK        = 0
	exitFailure   = 1
	exitUsage     = 2
	exitInvalid   = 3
	exitMissing   = 4
	exitInterrupt = 130
)

// codedError is an error with the exit status that it asks for.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// usagef reports a command line that cannot be obeyed.
func usagef(format string, args ...any) error {
	return &codedError{exitUsage, fmt.Errorf(format, args...)}
}

// missingf reports a model, tokenizer or library that is not there.
func missingf(format string, args ...any) error {
	return &codedError{exitMissing, fmt.Errorf(format, args...)}
}

// invalidf reports a validation that ran and failed.
func invalidf(format string, args ...any) error {
	return &codedError{exitInvalid, fmt.Errorf(format, args...)}
}

// exitCode maps an error to the exit status.
func exitCode(err error) int {
	var coded *codedError
	var noRuntime *ort.MissingError
	var noModel *model.MissingError
	switch {
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &noRuntime), errors.As(err, &noModel):
		return exitMissing
	case errors.Is(err, context.Canceled):
		return exitInterrupt
	}
	return exitFailure
}

// message is what the user reads of err: one line, or nothing where a reader of
// standard output went away.
func message(err error) string {
	if onlyPipe(err) {
		return ""
	}
	if exitCode(err) == exitInterrupt {
		return "interrupted"
	}
	return printable.String(strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}

// onlyPipe says that nothing went wrong but that a reader went away.
func onlyPipe(err error) bool {
	switch x := err.(type) {
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(x.Unwrap(), func(e error) bool { return !onlyPipe(e) })
	case interface{ Unwrap() error }:
		return onlyPipe(x.Unwrap())
	}
	return err == syscall.EPIPE
}

// closing closes what a command opened; that it could not is the command's error where there
// is no other.
func closing(c io.Closer, err *error) {
	if cerr := c.Close(); *err == nil {
		*err = cerr
	}
}
