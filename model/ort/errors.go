package ort

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrClosed is the error of a closed session.
var ErrClosed = errors.New("onnx session: it is closed")

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

// Unwrap returns the cause.
func (e *MissingError) Unwrap() error { return e.Err }

// A MemoryError reports that there is not enough memory for a network, or for a call of it. The
// session can still be used for smaller calls.
type MemoryError struct{ Err error }

// Error implements error.
func (e *MemoryError) Error() string { return "out of memory: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *MemoryError) Unwrap() error { return e.Err }

// TooLarge reports that the size of the call is at fault, not any of its rows.
func (e *MemoryError) TooLarge() bool { return true }

// full matches the messages of the runtime, CUDA, its libraries and C++ for a lack of memory. The
// binding drops the runtime's error codes, which would not help either.
var full = regexp.MustCompile(`(?i)failed to allocate memory|out of memory|CUDA failure 2\b|CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED|std::bad_alloc`)

// causes returns the errors joined into err, one line each.
func causes(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{oneLine(err.Error())}
	}
	var lines []string
	for _, e := range joined.Unwrap() {
		lines = append(lines, causes(e)...)
	}
	return lines
}

// installHint is the advice if there is no library at all.
var installHint = fmt.Sprintf("name an ONNX Runtime library of version %s or newer with --set runtime=PATH, or install the Python package onnxruntime, or install Python's pip and run again with a network so that mdmgen fetches version %s", MinVersion, Version)

// oneLine folds a foreign message into one line of bounded length.
func oneLine(s string) string { return fmt.Sprintf("%.400s", strings.Join(strings.Fields(s), " ")) }
