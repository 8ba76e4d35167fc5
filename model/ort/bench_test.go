package ort

import (
	"fmt"
	"testing"

	"mdmgen/internal/reftest"
)

func BenchmarkOpen(b *testing.B) {
	model := adder()
	keep := open(b, Source{Bytes: model})
	defer keep.Close()
	for b.Loop() {
		reftest.OK(b, reftest.Must(Open(b.Context(), Source{Bytes: model}, Config{}))(b).Close())
	}
}

// BenchmarkRun measures the cost of a run apart from the network: a model of one addition, with and
// without a context that can end, with the same slices and with new ones each time; and chains of
// 40 products of matrices, whose threads wait for each other.
func BenchmarkRun(b *testing.B) {
	s := open(b, Source{Bytes: adder()})
	tensors := func() ([]Tensor, []Tensor) {
		return []Tensor{pairs("x", 1, 2), pairs("y", 3, 4)}, []Tensor{pairs("z", make([]float32, 2)...)}
	}
	in, out := tensors()
	other, otherOut := tensors()
	b.Run("same", func(b *testing.B) {
		b.ReportAllocs()
		ctx := b.Context()
		for b.Loop() {
			reftest.OK(b, s.Run(ctx, in, out))
		}
	})
	b.Run("changing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			reftest.OK(b, s.Run(b.Context(), in, out))
			in, out, other, otherOut = other, otherOut, in, out
		}
	})
	for _, n := range []int64{64, 128, 256} {
		b.Run(fmt.Sprintf("chain-%d", n), func(b *testing.B) {
			s := open(b, Source{Bytes: slow(40)})
			in := []Tensor{{Name: "x", Shape: []int64{n, n}, Float32: make([]float32, n*n)}}
			out := []Tensor{{Name: "z", Shape: []int64{n, n}, Float32: make([]float32, n*n)}}
			for b.Loop() {
				reftest.OK(b, s.Run(b.Context(), in, out))
			}
		})
	}
}
