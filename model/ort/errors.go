package ort

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"mdmgen/model/ort/library"
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

// unfit adds to the error of a network that does not open that another version of the runtime has the
// operator that it lacks. Of the networks that package graph writes, two kinds need more than the oldest
// version: time-conditioned ones the cosine of float64, and experts in int4 the accuracy_level of QMoE.
func unfit(err error, version string) error {
	missing, experts := strings.Contains(err.Error(), "Could not find an implementation"), strings.Contains(err.Error(), "QMoE")
	switch {
	case version == library.Version || !missing && !experts:
		return err
	case experts:
		return fmt.Errorf("%w in ONNX Runtime %s: use version %s; experts in int4 need at least 1.32, those in int4-exact do not", err, version, library.Version)
	}
	return fmt.Errorf("%w in ONNX Runtime %s: use version %s; time-conditioned networks need at least 1.29", err, version, library.Version)
}
