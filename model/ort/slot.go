package ort

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	onnx "github.com/yalue/onnxruntime_go"

	"mdmgen/internal/half"
)

// A slot is the native tensor of one input or output. It uses the memory of the caller's slice, or
// of a staging slice of the model's own type if that differs.
type slot struct {
	value onnx.Value // nil when empty
	shape []int64
	data  *byte // the caller's slice, for comparison
	// pin keeps the native tensor's memory in place.
	pin runtime.Pinner
	// load fills the staging slice before a run, store copies it out after one. Neither is nil in a
	// slot that holds a tensor.
	load  func() error
	store func()
}

func nothing() error { return nil }

// holds reports whether the slot's tensor uses t's slice with t's shape.
func (s *slot) holds(t *Tensor) bool {
	_, data := t.raw()
	return s.value != nil && s.data == unsafe.SliceData(data) && slices.Equal(s.shape, t.Shape) && t.whole()
}

// raw returns the type and the memory of the data.
func (t *Tensor) raw() (kind string, data []byte) {
	switch {
	case len(t.Int64) > 0:
		return "int64", memory(t.Int64)
	case len(t.Float32) > 0:
		return "float32", memory(t.Float32)
	}
	return "float64", memory(t.Float64)
}

// memory returns the bytes of numbers.
func memory[T any](data []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(*new(T))))
}

// whole reports whether the slices together have the length that the shape requires.
func (t *Tensor) whole() bool {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return int64(len(t.Int64)+len(t.Float32)+len(t.Float64)) == n
}

// set makes a native tensor on t's data and frees the previous one.
func (s *slot) set(input bool, io IO, t *Tensor) error {
	if !t.whole() {
		return fmt.Errorf("shape %v and %d values", t.Shape, len(t.Int64)+len(t.Float32)+len(t.Float64))
	}
	if err := s.free(); err != nil {
		return err
	}
	s.load, s.store = nothing, func() {}
	var err error
	own, data := t.raw()
	kind, known := elementKinds[io.Type]
	switch {
	case t.empty() && known:
		err = s.putBytes(t.Shape, nil, kind)
	case io.Type == own && len(data) > 0:
		err = s.putBytes(t.Shape, data, kind)
	case input && io.Type == "bool" && len(t.Int64) > 0:
		err = staged(s, t.Shape, t.Int64, kind, func(x int64) bool { return x != 0 }, nil)
	case input && io.Type == "int32" && len(t.Int64) > 0:
		if err = staged(s, t.Shape, t.Int64, kind, func(x int64) int32 { return int32(x) }, nil); err == nil {
			s.load = checked(t.Int64, s.load)
		}
	case input && io.Type == "float64" && len(t.Float32) > 0:
		err = staged(s, t.Shape, t.Float32, kind, func(x float32) float64 { return float64(x) }, nil)
	case io.Type == "float16" && len(t.Float32) > 0:
		err = staged(s, t.Shape, t.Float32, kind, half.ToFloat16, half.FromFloat16)
	case io.Type == "bfloat16" && len(t.Float32) > 0:
		err = staged(s, t.Shape, t.Float32, kind, half.ToBFloat16, half.FromBFloat16)
	default:
		return fmt.Errorf("the network has %s, which %s cannot pass", io.Type, own)
	}
	if err != nil {
		s.pin.Unpin()
		return runtimeError(err)
	}
	live.Add(1)
	s.shape = slices.Clone(t.Shape)
	s.data = unsafe.SliceData(data)
	return nil
}

// staged makes the native tensor of the model's own type for the caller's numbers. to fills it before a
// run; from, if not nil, copies it out after one. Only one of these matters, depending on the direction:
// a run does not write an input's staging slice, and overwrites an output's.
func staged[T, M any](s *slot, shape []int64, own []T, kind onnx.TensorElementDataType, to func(T) M, from func(M) T) error {
	data := make([]M, len(own))
	s.load = func() error {
		for i, x := range own {
			data[i] = to(x)
		}
		return nil
	}
	if from != nil {
		s.store = func() {
			for i, x := range data {
				own[i] = from(x)
			}
		}
	}
	return s.putBytes(shape, memory(data), kind)
}

// free empties the slot.
func (s *slot) free() error {
	if s.value == nil {
		return nil
	}
	err := s.value.Destroy()
	s.pin.Unpin()
	s.value, s.data, s.shape, s.load, s.store = nil, nil, nil, nil, nil
	live.Add(-1)
	return err
}

// checked returns load for ids that are passed as 32-bit integers.
func checked(ids []int64, load func() error) func() error {
	return func() error {
		if i := slices.IndexFunc(ids, func(x int64) bool { return x != int64(int32(x)) }); i >= 0 {
			return fmt.Errorf("value %d does not fit into the network's int32", ids[i])
		}
		return load()
	}
}
