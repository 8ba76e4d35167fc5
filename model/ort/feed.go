package ort

import "slices"

// A Feed makes an input from integers for successive runs, in the same memory and in the element
// type that the network has for it: integers, bool or reals.
type Feed struct {
	IO
	ints   []int64
	floats []float32
}

// Tensor returns the input with the given shape; value(i) is its element i. It is valid until the
// next call.
func (f *Feed) Tensor(shape []int64, value func(i int) int64) Tensor {
	n := 1
	for _, d := range shape {
		n *= int(d)
	}
	t := Tensor{Name: f.Name, Shape: shape}
	if slices.Contains(Reals, f.Type) {
		f.floats = slices.Grow(f.floats[:0], n)[:n]
		for i := range f.floats {
			f.floats[i] = float32(value(i))
		}
		t.Float32 = f.floats
		return t
	}
	f.ints = slices.Grow(f.ints[:0], n)[:n]
	for i := range f.ints {
		f.ints[i] = value(i)
	}
	t.Int64 = f.ints
	return t
}

// The supported element types.
var (
	Integers = []string{"int64", "int32"}                 // of ids
	Reals    = []string{"float32", "float16", "bfloat16"} // of rows of logits
)
