package checkpoint

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"mdmgen/internal/half"
	"mdmgen/internal/plainfile"
)

// Dtype is a safetensors element type.
type Dtype string

// The element types that files may hold. Networks use the first four, files of reference values
// also I64 and I32; tensors of the other types are never read.
const (
	F32    Dtype = "F32"     // float32
	F16    Dtype = "F16"     // float16
	BF16   Dtype = "BF16"    // bfloat16
	F64    Dtype = "F64"     // float64
	I64    Dtype = "I64"     // int64
	I32    Dtype = "I32"     // int32
	I16    Dtype = "I16"     // int16
	I8     Dtype = "I8"      // int8
	U64    Dtype = "U64"     // uint64
	U32    Dtype = "U32"     // uint32
	U16    Dtype = "U16"     // uint16
	U8     Dtype = "U8"      // uint8
	Bool   Dtype = "BOOL"    // a byte, 0 or 1
	F8E4M3 Dtype = "F8_E4M3" // float8, 4 bits of exponent
	F8E5M2 Dtype = "F8_E5M2" // float8, 5 bits of exponent
	// Odd is the type of torch's tensors that are not plain arrays of numbers. They have no data.
	Odd Dtype = "sparse, quantized, complex or without data"
	// Negated is the type of torch's views that negate or conjugate the numbers stored.
	Negated Dtype = "a negated view, to be saved with .resolve_neg()"
)

// sizes are the bytes of an element.
var sizes = map[Dtype]int{F64: 8, I64: 8, U64: 8, F32: 4, I32: 4, U32: 4, F16: 2, BF16: 2, I16: 2, U16: 2, I8: 1, U8: 1, Bool: 1, F8E4M3: 1, F8E5M2: 1}

// Size returns the bytes of an element, 0 for an unknown type.
func (d Dtype) Size() int { return sizes[d] }

// Float reports whether the type is one used for networks' weights.
func (d Dtype) Float() bool { return d == F32 || d == F16 || d == BF16 || d == F64 }

// Tensor is a tensor in a file: row-major, little-endian.
type Tensor struct {
	Name  string
	Dtype Dtype
	Shape []int
	// Data holds Len()·Dtype.Size() bytes, or what there is if the size of the type is unknown. It points into the mapped file and is invalid once that
	// is closed; it must not be written to.
	Data []byte
	// Path is the file that holds the tensor, with all symbolic links resolved, and Offset is where
	// Data begins in it. Path is empty if there is no such file.
	Path   string
	Offset int64
	// Across means that a matrix is stored as [in, out], unlike torch's linear layers.
	Across bool
}

// Len returns the number of elements.
func (t Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Open returns a reader of elements first, …, first+n−1. It reads the file, if there is one,
// instead of the mapping, so that the pages of a large tensor do not count as memory of the
// process. It panics if the range is outside the tensor.
func (t Tensor) Open(first, n int) (io.ReadCloser, error) {
	size := t.Dtype.Size()
	data := t.Data[first*size : (first+n)*size]
	if t.Path == "" {
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	f, err := os.Open(t.Path)
	if err != nil {
		return nil, plainfile.Cause(err)
	}
	return section{io.NewSectionReader(f, t.Offset+int64(first*size), int64(len(data))), f}, nil
}

// section is a part of a file.
type section struct {
	io.Reader
	io.Closer
}

// Widen fills dst with elements first, first+1, …. F16 and BF16 are widened exactly, F64 is
// rounded. It panics if the range is outside the tensor, or if the type is not F32, F16, BF16 or
// F64.
func (t Tensor) Widen(dst []float32, first int) {
	size := t.Dtype.Size()
	t.Dtype.Widen(dst, t.Data[first*size:(first+len(dst))*size])
}

// Widen is [Tensor.Widen] for the bytes of len(dst) elements.
func (d Dtype) Widen(dst []float32, src []byte) {
	switch d {
	case F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case BF16:
		for i := range dst {
			dst[i] = half.FromBFloat16(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case F16:
		src = src[:2*len(dst)] // This removes bounds checks, a third of the time.
		for i := range dst {
			dst[i] = half.FromFloat16(uint16(src[2*i]) | uint16(src[2*i+1])<<8)
		}
	case F64:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
		}
	default:
		panic(fmt.Sprintf("checkpoint: %s is not widened to float32", d))
	}
}

// Float32s returns all elements of an F32, F16, BF16 or F64 tensor as a new slice.
func (t Tensor) Float32s() ([]float32, error) {
	if !t.Dtype.Float() {
		return nil, fmt.Errorf("tensor %s: is %s: must be F32, F16, BF16 or F64", quoteName(t.Name), t.Dtype)
	}
	v := make([]float32, t.Len())
	t.Widen(v, 0)
	return v, nil
}

// Float64s returns all elements of a floating-point tensor as a new slice.
func (t Tensor) Float64s() ([]float64, error) {
	if t.Dtype == F64 {
		v := make([]float64, t.Len())
		_, err := binary.Decode(t.Data, binary.LittleEndian, v)
		return v, err
	}
	narrow, err := t.Float32s()
	if err != nil {
		return nil, err
	}
	v := make([]float64, len(narrow))
	for i, x := range narrow {
		v[i] = float64(x)
	}
	return v, nil
}

// Int64s returns all elements of an I64 or I32 tensor as a new slice.
func (t Tensor) Int64s() ([]int64, error) {
	if t.Dtype != I64 && t.Dtype != I32 {
		return nil, fmt.Errorf("tensor %s: is %s: must be I64 or I32", quoteName(t.Name), t.Dtype)
	}
	v := make([]int64, t.Len())
	for i := range v {
		if t.Dtype == I32 {
			v[i] = int64(int32(binary.LittleEndian.Uint32(t.Data[4*i:])))
		} else {
			v[i] = int64(binary.LittleEndian.Uint64(t.Data[8*i:]))
		}
	}
	return v, nil
}
