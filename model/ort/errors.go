package ort

import (
	"errors"
	"regexp"
)

// ErrClosed is the error of a closed session.
var ErrClosed = errors.New("onnx session: it is closed")

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
