package ort

import (
	"slices"
	"unsafe"

	onnx "github.com/yalue/onnxruntime_go"
)

// Two liberties of inputs that caches of language models need: a tensor without elements,
// of whatever type the network has there, and a bool from integers.

// elementKinds are the element types that an input without elements may have.
var elementKinds = map[string]onnx.TensorElementDataType{
	"float32": onnx.TensorElementDataTypeFloat, "float64": onnx.TensorElementDataTypeDouble,
	"float16": onnx.TensorElementDataTypeFloat16, "bfloat16": onnx.TensorElementDataTypeBFloat16,
	"int32": onnx.TensorElementDataTypeInt32, "int64": onnx.TensorElementDataTypeInt64, "bool": onnx.TensorElementDataTypeBool,
}

// empty says whether a tensor has a dimension of 0, and so no data.
func (t *Tensor) empty() bool {
	return slices.Contains(t.Shape, 0) && len(t.Int64)+len(t.Float32)+len(t.Float64) == 0
}

// putBytes makes the native tensor on raw memory. The binding wants a byte of it even
// where there are no elements.
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

// putBool stages integers as bool: true where they are not 0.
func (s *slot) putBool(t *Tensor) error {
	from := t.Int64
	return staged(s, t.Shape, len(from), onnx.TensorElementDataTypeBool, func(to []bool) error {
		for i, x := range from {
			to[i] = x != 0
		}
		return nil
	}, nil)
}
