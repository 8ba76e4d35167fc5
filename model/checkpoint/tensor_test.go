package checkpoint

import (
	"encoding/binary"
	"math"
	"testing"
)

func TestWiden(t *testing.T) {
	le := binary.LittleEndian
	for _, c := range []struct {
		name string
		t    Tensor
		want []float32
	}{
		{"F32", Tensor{Dtype: F32, Shape: []int{2}, Data: le.AppendUint32(le.AppendUint32(nil, 0x3f800000), 0xc0490fdb)}, []float32{1, -math.Pi}},
		{"F16", Tensor{Dtype: F16, Shape: []int{2}, Data: []byte{0x00, 0x3c, 0xff, 0x7b}}, []float32{1, 65504}},
		{"BF16", Tensor{Dtype: BF16, Shape: []int{2}, Data: []byte{0x80, 0x3f, 0x49, 0xc0}}, []float32{1, -3.140625}},
	} {
		got, err := c.t.Float32s()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for i, x := range got {
			if x != c.want[i] {
				t.Errorf("%s: element %d is %v, want %v", c.name, i, x, c.want[i])
			}
		}
		one := make([]float32, 1)
		if c.t.Widen(one, 1); one[0] != c.want[1] {
			t.Errorf("%s: Widen from 1 gives %v, want %v", c.name, one[0], c.want[1])
		}
	}
}

func TestTensorOfAnotherType(t *testing.T) {
	if _, err := (Tensor{Name: "ids", Dtype: I64, Shape: []int{1}, Data: make([]byte, 8)}).Float32s(); err == nil {
		t.Error("I64 was read as float32")
	}
	if _, err := (Tensor{Name: "x", Dtype: F32, Shape: []int{1}, Data: make([]byte, 4)}).Int64s(); err == nil {
		t.Error("F32 was read as int64")
	}
	v, err := Tensor{Dtype: I32, Shape: []int{1}, Data: []byte{0xff, 0xff, 0xff, 0xff}}.Int64s()
	if err != nil || v[0] != -1 {
		t.Errorf("I32 −1 is read as %v, %v", v, err)
	}
}
