package library

import (
	"fmt"
	"strings"

	"mdmgen/internal/fault"
)

// A MissingError reports that ONNX Runtime, or a part of it that was asked for, is not on this
// machine. Its text is one line that says what to do.
type MissingError struct {
	// What names the missing part, and why it could not be obtained.
	What string
	// Do is what the user can do about it.
	Do string
	// Err is the cause, or nil.
	Err error
}

// Error implements error.
func (e *MissingError) Error() string {
	s := "onnx runtime: " + e.What
	if e.Err != nil {
		s += ": " + strings.Join(causes(e.Err), "; ")
	}
	if e.Do != "" {
		s += ": " + e.Do
	}
	return s
}

// Missing marks the error for exit statuses.
func (*MissingError) Missing() {}

func (e *MissingError) Unwrap() error { return e.Err }

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

// installHint is the advice if there is no library at all.
var installHint = fmt.Sprintf("name an ONNX Runtime library of version %s or newer with --set runtime=PATH, or install the Python package onnxruntime, or install Python's pip and run again with a network so that mdmgen fetches version %s", MinVersion, Version)
