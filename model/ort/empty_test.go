package ort

import (
	"context"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/internal/onnxpb"
)

// TestEmptyInput passes a tensor without elements, and then one with elements, to a network that
// adds up along the open dimension.
func TestEmptyInput(t *testing.T) {
	g := graph{
		nodes: [][]byte{node("ReduceSum", []string{"x"}, "s", onnxpb.Attribute("keepdims", 1)), node("Add", []string{"s", "y"}, "z")},
		in:    [][]byte{port("x", onnxpb.Float, -1, 2), port("y", onnxpb.Float, -1, 1)},
		out:   [][]byte{port("z", onnxpb.Float, -1, 1)},
	}.bytes()
	s := open(t, Source{Bytes: g})
	out := make([]float32, 1)
	for _, c := range []struct {
		x    Tensor
		want float32
	}{
		{Tensor{Name: "x", Shape: []int64{0, 2}}, 7},
		{Tensor{Name: "x", Shape: []int64{1, 2}, Float32: []float32{1, 2}}, 10},
		{Tensor{Name: "x", Shape: []int64{0, 2}}, 7},
	} {
		err := s.Run(context.Background(), []Tensor{c.x, {Name: "y", Shape: []int64{1, 1}, Float32: []float32{7}}}, []Tensor{{Name: "z", Shape: []int64{1, 1}, Float32: out}})
		if err != nil || out[0] != c.want {
			t.Errorf("%v: %v, %v, want %v", c.x.Shape, out[0], err, c.want)
		}
	}
	// An output without elements is allowed too.
	reftest.OK(t, s.Run(context.Background(), []Tensor{{Name: "x", Shape: []int64{0, 2}}, {Name: "y", Shape: []int64{0, 1}}}, []Tensor{{Name: "z", Shape: []int64{0, 1}}}), "an output without elements")
	// Data for no elements, and elements without data, are mistakes.
	for want, x := range map[string]Tensor{
		"[0 2] and 1 values": {Name: "x", Shape: []int64{0, 2}, Float32: []float32{1}},
		"[1 2] and 0 values": {Name: "x", Shape: []int64{1, 2}},
		"Expected: 2":        {Name: "x", Shape: []int64{0, 3}},
	} {
		err := s.Run(context.Background(), []Tensor{x, {Name: "y", Shape: []int64{1, 1}, Float32: []float32{7}}}, []Tensor{{Name: "z", Shape: []int64{1, 1}, Float32: out}})
		reftest.Fails(t, err, want, x.Shape)
	}
}

// TestBoolInput feeds a bool from integers.
func TestBoolInput(t *testing.T) {
	s := open(t, Source{Bytes: unary("Cast", onnxpb.Bool, onnxpb.Float, onnxpb.Attribute("to", onnxpb.Float))})
	in, out := []int64{0, 1, 5}, make([]float32, 3)
	for range 2 {
		err := s.Run(context.Background(), []Tensor{{Name: "x", Shape: []int64{3}, Int64: in}}, []Tensor{{Name: "z", Shape: []int64{3}, Float32: out}})
		if err != nil || out[0] != float32(min(in[0], 1)) || out[1] != 1 || out[2] != 1 {
			t.Errorf("%v: %v, %v", in, out, err)
		}
		in[0] = 1
	}
}
