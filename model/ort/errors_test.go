package ort

import (
	"errors"
	"strings"
	"testing"
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
