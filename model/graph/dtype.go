package graph

import (
	"fmt"
	"slices"
	"strings"

	"mdmgen/model/checkpoint"
)

// Dtype is the type in which a graph's matrices are stored and linear layers multiply.
// docs/precision.md lists the cost and gain of each.
type Dtype string

const (
	// Float32 is the default, "".
	Float32 Dtype = "fp32"
	// Float16 stores all matrices in half the bytes. They are widened when the model is opened,
	// since the runtime has no CPU kernels for float16 products, so memory and speed are those of
	// Float32. [Options].GPU is for devices that have such kernels.
	Float16 Dtype = "fp16"
	// Int8 multiplies 8-bit integers: weights have a scale for each output, and the stream a scale
	// for each row, so that no row depends on the others in its call.
	Int8 Dtype = "int8"
	// Int4 stores weights in 4 bits, with a scale for every 16, 32 or 64 of a row (see [block4]); rows of
	// the stream are quantised to 8 bits in blocks of as many values. On a CPU the layers beside experts
	// are as with Int8.
	Int4 Dtype = "int4"
	// Int4Exact stores weights in 4 bits, and multiplies in float32.
	Int4Exact Dtype = "int4-exact"
)

// Dtypes lists all types.
func Dtypes() []Dtype { return []Dtype{Float32, Float16, Int8, Int4, Int4Exact} }

// four reports whether weights are in 4 bits, and accuracy returns the attribute of operators that
// multiply them: the level of the runtime at which rows are quantised to 8 bits, or none.
func (d Dtype) four() bool { return d == Int4 || d == Int4Exact }

func (d Dtype) accuracy() attrs {
	if d == Int4Exact {
		return nil
	}
	return attrs{{"accuracy_level", 4}}
}

// Check returns an error if there are no graphs of a type. "" is Float32.
func (d Dtype) Check() error {
	switch {
	case d == "bf16":
		return fmt.Errorf("dtype bf16: ONNX Runtime has no CPU kernels for it: use fp32, which holds its values exactly, or fp16 to store half the bytes")
	case d != "" && !slices.Contains(Dtypes(), d):
		return fmt.Errorf("dtype %.20q: must be one of %v", string(d), Dtypes())
	}
	return nil
}

// Memory returns about how many bytes the weights of a network take while it runs: docs/research/figures.md
// has peaks of large ones. It returns an error if they cannot be of a type.
func Memory(c checkpoint.Config, d Dtype) (bytes int64, err error) {
	bits := int64(0)
	for s := range c.Tensors() {
		n := int64(1)
		for _, size := range s.Shape {
			n *= int64(size)
		}
		table := len(s.Shape) > 1 && s.Shape[0] >= c.Columns
		switch {
		case len(s.Shape) < 2, d != Int8 && !d.four(), table && !(d.four() && allInFour(c)):
			bits += 32 * n
		case d == Int8, d == Int4 && c.Experts.Count > 0 && !strings.Contains(s.Name, ".experts."):
			bits += 8 * n
		case c.Experts.Count > 0 && !table:
			bits += (4 + 32/tableBlock4) * n
		case c.Hidden >= large4:
			bits += (4 + 3*32/tableBlock4) * n // The runtime holds three numbers for each scale.
		default:
			bits += (4 + 3*32/block4) * n
		}
	}
	return bits / 8, expertsIn(d, c)
}

// Plain reports whether weights are float32.
func (d Dtype) Plain() bool { return d == "" || d == Float32 }
