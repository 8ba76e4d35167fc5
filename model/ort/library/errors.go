package library

import (
	"slices"
	"strings"

	"mdmgen/internal/fault"
)

// A MissingError reports that ONNX Runtime, or a part of it that was asked for, is not on this
// machine. Its text is one line that says what to do.
type MissingError struct {
	// What names the missing part, and why it could not be obtained; "" if Err does.
	What string
	// Do is what the user can do about it, or nil.
	Do error
	// Err is the cause, or nil.
	Err error
}

// Error implements error.
func (e *MissingError) Error() string {
	parts := []string{"onnx runtime"}
	if e.What != "" {
		parts = append(parts, e.What)
	}
	if e.Err != nil {
		parts = append(parts, strings.Join(causes(e.Err), "; "))
	}
	if e.Do != nil {
		parts = append(parts, e.Do.Error())
	}
	return strings.Join(parts, ": ")
}

// Missing marks the error for exit statuses.
func (*MissingError) Missing() {}

// Unwrap returns the cause and the advice.
func (e *MissingError) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Err, e.Do}, func(err error) bool { return err == nil })
}

// causes returns the errors joined into err, one line each.
func causes(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{fault.Line(err.Error())}
	}
	var lines []string
	for _, e := range joined.Unwrap() {
		lines = append(lines, causes(e)...)
	}
	return lines
}

// named is the setting that names a library, offline the one that forbids fetching.
var (
	named   = fault.Term{Name: "runtime", Value: "PATH"}
	offline = fault.Term{Name: "offline"}
)

// installHint is the advice if there is no library at all.
var installHint = fault.Advise("name an ONNX Runtime library of version %s or newer with %v, or install the Python package onnxruntime, or install Python's pip and run again with a network so that mdmgen fetches version %s", MinVersion, named, Version)
