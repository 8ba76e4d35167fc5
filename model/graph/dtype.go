package graph

import (
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sys/cpu"
)

// Dtype says how the matrices of a graph are stored, and how linear layers multiply by them.
// docs/precision.md has what each costs and gains.
type Dtype string

const (
	// Float32 is what "" means.
	Float32 Dtype = "fp32"
	// Float16 stores all matrices in half the bytes. They are widened when the model is
	// opened: the runtime has no CPU kernels that multiply by them as they are, so that memory
	// and speed are those of Float32. [Options].Half is for devices that do.
	Float16 Dtype = "fp16"
	// Int8 multiplies integers of 8 bits: weights have a scale for each output, and rows of
	// the stream one for each row, so that no row depends on those that share its call.
	Int8 Dtype = "int8"
	// Int4 stores weights in 4 bits, with a scale for 32 of them; rows are quantised to 8 bits by
	// 32 values of a row.
	Int4 Dtype = "int4"
)

// Dtypes lists them.
func Dtypes() []Dtype { return []Dtype{Float32, Float16, Int8, Int4} }

// Check says why there are no graphs of a type; nil where there are. "" is Float32.
func (d Dtype) Check() error {
	switch {
	case d == "bf16":
		return fmt.Errorf("dtype bf16: ONNX Runtime has no CPU kernels for it: use fp32, which holds its values exactly, or fp16 to store half the bytes")
	case d != "" && !slices.Contains(Dtypes(), d):
		return fmt.Errorf("dtype %.20q: must be one of %v", string(d), Dtypes())
	}
	return nil
}

// Exact8 reports whether this processor multiplies unsigned by signed bytes exactly, as [Int8] needs:
// those of x86 without VNNI add such products in 16 bits, which saturate (2·255·127 > 2¹⁵).
func Exact8() bool {
	return runtime.GOARCH != "amd64" || cpu.X86.HasAVX512VNNI || cpu.X86.HasAVXVNNI
}

// Plain reports whether weights are float32.
func (d Dtype) Plain() bool { return d == "" || d == Float32 }
