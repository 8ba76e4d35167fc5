package checkpoint

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"mdmgen/internal/reftest"
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
		got := reftest.Must(c.t.Float32s())(t, c.name)
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
	reftest.Fails(t, reftest.Err((Tensor{Name: "ids", Dtype: I64, Shape: []int{1}, Data: make([]byte, 8)}).Float32s()), "", "I64 was read as float32")
	reftest.Fails(t, reftest.Err((Tensor{Name: "x", Dtype: F32, Shape: []int{1}, Data: make([]byte, 4)}).Int64s()), "", "F32 was read as int64")
	v, err := Tensor{Dtype: I32, Shape: []int{1}, Data: []byte{0xff, 0xff, 0xff, 0xff}}.Int64s()
	if err != nil || v[0] != -1 {
		t.Errorf("I32 −1 is read as %v, %v", v, err)
	}
}

// NaN is found anywhere, and infinities do not count.
func TestNaN(t *testing.T) {
	for dtype, x := range map[Dtype]struct{ nan, inf, most []byte }{
		F32:  {[]byte{0, 0, 0xc0, 0x7f}, []byte{0, 0, 0x80, 0xff}, []byte{0xff, 0xff, 0x7f, 0x7f}},
		F16:  {[]byte{1, 0xfc}, []byte{0, 0x7c}, []byte{0xff, 0xfb}},
		BF16: {[]byte{0x81, 0x7f}, []byte{0x80, 0xff}, []byte{0x7f, 0x7f}},
		F64:  {[]byte{1, 0, 0, 0, 0, 0, 0xf0, 0xff}, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xef, 0x7f}},
	} {
		firstNaN := func(b []byte) int {
			at, err := new(Checkpoint).firstNaN(t.Context(), Tensor{Dtype: dtype, Shape: []int{len(b) / dtype.Size()}, Data: b}, make([]byte, 32))
			if err != nil {
				t.Error(err)
			}
			return at
		}
		for n := range 9 {
			b := bytes.Repeat(x.most, n)
			if n > 0 {
				copy(b[len(b)/2/len(x.inf)*len(x.inf):], x.inf)
			}
			if at := firstNaN(b); at != -1 {
				t.Errorf("%s: element %d of %d is no NaN", dtype, at, n)
			}
			for i := range n {
				bad := bytes.Clone(b)
				copy(bad[i*len(x.nan):], x.nan)
				if at := firstNaN(bad); at != i {
					t.Errorf("%s: NaN at %d of %d is found at %d", dtype, i, n, at)
				}
			}
		}
	}
}
