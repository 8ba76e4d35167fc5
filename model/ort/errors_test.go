package ort

import (
	"errors"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/ort/library"
)

// Messages of the runtime, CUDA and its libraries about a lack of memory are distinguished from
// other errors.
func TestMemoryErrors(t *testing.T) {
	for text, want := range map[string]bool{
		"Non-zero status code returned while running Gemm node. bfc_arena.cc:360 AllocateRawInternal Failed to allocate memory for requested buffer of size 1048576": true,
		"CUDA failure 2: out of memory ; GPU=0":                true,
		"CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0": true,
		"std::bad_alloc":                              true,
		"CUDA failure 209: no kernel image":           false,
		"Got invalid dimensions for input: input_ids": false,
	} {
		err := runtimeError(errors.New(text))
		if got := errors.As(err, new(*MemoryError)); got != want || strings.Contains(err.Error(), "out of memory") != want {
			t.Errorf("%s: memory is full %t, want %t", err, got, want)
		}
	}
}

// TestUnfit checks that a missing kernel is told with the version that has it, other faults without.
func TestUnfit(t *testing.T) {
	cos, other := errors.New("Could not find an implementation for Cos(7) node with name 'Cos_1'"), errors.New("no graph")
	reftest.Fails(t, unfit(cos, "1.28.0"), "Cos_1' in ONNX Runtime 1.28.0: use version "+library.Version+"; time-conditioned networks need at least 1.29")
	level := errors.New("Unrecognized attribute: accuracy_level for operator QMoE")
	reftest.Fails(t, unfit(level, "1.30.0"), "in ONNX Runtime 1.30.0: use version "+library.Version+"; experts in int4 need at least 1.32")
	if unfit(cos, library.Version) != cos || unfit(other, "1.28.0") != other {
		t.Error("another fault is told otherwise")
	}
}
