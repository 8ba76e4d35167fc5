package ort

import (
	"slices"
	"unsafe"

	onnx "github.com/yalue/onnxruntime_go"
)

// Caches of language models need two more kinds of input: a tensor without elements, whatever its
// element type in the network, and a bool tensor made from integers.

// elementKinds are the element types that an input without elements may have.
var elementKinds = map[string]onnx.TensorElementDataType{
	"float32": onnx.TensorElementDataTypeFloat, "float64": onnx.TensorElementDataTypeDouble,
	"float16": onnx.TensorElementDataTypeFloat16, "bfloat16": onnx.TensorElementDataTypeBFloat16,
	"int32": onnx.TensorElementDataTypeInt32, "int64": onnx.TensorElementDataTypeInt64, "bool": onnx.TensorElementDataTypeBool,
}

// empty reports whether a tensor has a dimension of 0, and so no data.
func (t *Tensor) empty() bool {
	return slices.Contains(t.Shape, 0) && len(t.Int64)+len(t.Float32)+len(t.Float64) == 0
}

// putBytes makes the native tensor on raw memory, which is pinned, since the runtime keeps its address. The binding needs at least one byte even if there
// are no elements.
func (s *slot) putBytes(shape []int64, data []byte, kind onnx.TensorElementDataType) error {
	if len(data) == 0 {
		data = make([]byte, 8)
	}
	s.pin.Pin(unsafe.SliceData(data))
	v, err := onnx.NewCustomDataTensor(onnx.Shape(shape), data, kind)
	if err == nil {
		s.value = v
	}
	return err
}
