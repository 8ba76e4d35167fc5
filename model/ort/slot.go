package ort

import (
	"fmt"
	"math"
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
	data  unsafe.Pointer // the caller's slice, for comparison
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
	return s.value != nil && s.data == t.pointer() && slices.Equal(s.shape, t.Shape) && t.whole()
}

// pointer returns the address of the data; nil if none are set.
func (t *Tensor) pointer() unsafe.Pointer {
	switch {
	case len(t.Int64) > 0:
		return unsafe.Pointer(unsafe.SliceData(t.Int64))
	case len(t.Float32) > 0:
		return unsafe.Pointer(unsafe.SliceData(t.Float32))
	}
	return unsafe.Pointer(unsafe.SliceData(t.Float64))
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
	kind, known := elementKinds[io.Type]
	switch {
	case t.empty() && known:
		err = s.putBytes(t.Shape, nil, kind)
	case input && io.Type == "bool" && len(t.Int64) > 0:
		err = s.putBool(t)
	case io.Type == "int64" && len(t.Int64) > 0:
		err = putTensor(s, t.Shape, t.Int64)
	case io.Type == "float32" && len(t.Float32) > 0:
		err = putTensor(s, t.Shape, t.Float32)
	case io.Type == "float64" && len(t.Float64) > 0:
		err = putTensor(s, t.Shape, t.Float64)
	case input && io.Type == "int32" && len(t.Int64) > 0:
		from := t.Int64
		err = staged(s, t.Shape, len(from), kind, func(to []int32) error { return narrow(to, from) }, nil)
	case input && io.Type == "float64" && len(t.Float32) > 0:
		from := t.Float32
		err = staged(s, t.Shape, len(from), kind, func(to []float64) error {
			for i, x := range from {
				to[i] = float64(x)
			}
			return nil
		}, nil)
	case io.Type == "float16" && len(t.Float32) > 0:
		err = s.putHalf(t, kind, half.ToFloat16, half.FromFloat16)
	case io.Type == "bfloat16" && len(t.Float32) > 0:
		err = s.putHalf(t, kind, half.ToBFloat16, half.FromBFloat16)
	default:
		return fmt.Errorf("the network has %s, which %s cannot pass", io.Type, t.typeName())
	}
	if err != nil {
		s.pin.Unpin()
		return runtimeError(err)
	}
	live.Add(1)
	s.shape = slices.Clone(t.Shape)
	s.data = t.pointer()
	return nil
}

func (t *Tensor) typeName() string {
	switch {
	case len(t.Int64) > 0:
		return "int64"
	case len(t.Float32) > 0:
		return "float32"
	}
	return "float64"
}

// putTensor makes the native tensor. The runtime keeps the address from now on, so the memory is
// pinned.
func putTensor[T int64 | float32 | float64](s *slot, shape []int64, data []T) error {
	s.pin.Pin(unsafe.SliceData(data))
	v, err := onnx.NewTensor(onnx.Shape(shape), data)
	if err == nil {
		s.value = v
	}
	return err
}

// staged makes the native tensor of n elements of the model's own type. load fills it before a run;
// store, if not nil, copies it out after one.
func staged[T any](s *slot, shape []int64, n int, kind onnx.TensorElementDataType, load func(to []T) error, store func(from []T)) error {
	data := make([]T, n)
	s.load = func() error { return load(data) }
	if store != nil {
		s.store = func() { store(data) }
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), n*int(unsafe.Sizeof(data[0])))
	return s.putBytes(shape, bytes, kind)
}

// putHalf stages 16-bit numbers. Only one of load and store matters, depending on the direction: a
// run does not write an input's staging slice, and overwrites an output's.
func (s *slot) putHalf(t *Tensor, kind onnx.TensorElementDataType, to func(float32) uint16, from func(uint16) float32) error {
	wide := t.Float32
	return staged(s, t.Shape, len(wide), kind, func(narrow []uint16) error {
		for i, x := range wide {
			narrow[i] = to(x)
		}
		return nil
	}, func(narrow []uint16) {
		for i, h := range narrow {
			wide[i] = from(h)
		}
	})
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

// narrow copies ids as 32-bit integers.
func narrow(dst []int32, src []int64) error {
	for i, x := range src {
		if x < math.MinInt32 || x > math.MaxInt32 {
			return fmt.Errorf("value %d does not fit into the network's int32", x)
		}
		dst[i] = int32(x)
	}
	return nil
}
