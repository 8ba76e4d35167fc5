package graph

import (
	"encoding/binary"
	"io"
	"math"

	"mdmgen/model/checkpoint"
	"mdmgen/model/internal/onnxpb"
)

// source is a float32 matrix from a checkpoint: consecutive rows and columns of a tensor, each row
// multiplied by its own factor if scale is not nil.
type source struct {
	tensor     checkpoint.Tensor
	first      int // row
	left       int // column
	rows, cols int
	scale      []float32 // one for each row, or nil
	// experts, if not nil, holds the matrices of each expert instead, all of as many rows; the rows of
	// those of one expert alternate.
	experts [][]source
	// over divides rows, and by multiplies column c by the factor of channel(c); see balance.
	over, by factors
	channel  func(column int) int
}

// size returns the bytes of the matrix as float32.
func (s source) size() int64 { return 4 * int64(s.rows) * int64(s.cols) }

// inPlace reports whether a runtime may read the matrix from the checkpoint's own file: its bits
// are unchanged, at an address aligned for float32.
func (s source) inPlace() bool {
	return s.experts == nil && !s.tensor.Across && s.tensor.Path != "" && s.tensor.Dtype == checkpoint.F32 && s.scale == nil && s.cols == s.tensor.Shape[1] && s.tensor.Offset%4 == 0
}

// offset returns the offset of the matrix in the checkpoint's file.
func (s source) offset() int64 { return s.tensor.Offset + 4*int64(s.first)*int64(s.cols) }

// WriteTo writes the matrix as little-endian float32, one row at a time, so it is never whole in
// memory.
func (s source) WriteTo(w io.Writer) (int64, error) {
	return s.each(w, func(dst []byte, row []float32) ([]byte, error) {
		for _, x := range row {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
		return dst, nil
	})
}

// initializer is a constant tensor of the graph. Its data is raw, or comes from a checkpoint.
type initializer struct {
	name string
	elem int64
	dims []int
	raw  []byte
	src  data

	// Set for data outside the model's bytes.
	file   string
	offset int64
}

// size returns the bytes of the data.
func (t initializer) size() int64 {
	if t.src != nil {
		return t.src.size()
	}
	return int64(len(t.raw))
}

// inline reports whether the data is in the model's bytes.
func (t initializer) inline() bool { return t.file == "" }

// dataOutside is TensorProto.DataLocation.EXTERNAL.
const dataOutside = 1

// head returns the initializer's field of GraphProto, without its inline data.
func (t initializer) head() []byte {
	var m onnxpb.Message
	for _, d := range t.dims {
		m = m.Int(1, int64(d))
	}
	m = m.Int(2, t.elem).Text(8, t.name)
	n := int64(0)
	if t.inline() {
		n = t.size()
		m = m.Begin(9, n)
	} else {
		m = m.Bytes(13, onnxpb.Pair("location", t.file)).
			Bytes(13, onnxpb.Pair("offset", itoa(t.offset))).
			Bytes(13, onnxpb.Pair("length", itoa(t.size()))).
			Int(14, dataOutside)
	}
	return append(onnxpb.Message{}.Begin(5, int64(len(m))+n), m...)
}
