package model_test

import (
	"context"
	"fmt"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
)

// BenchmarkLogits times a call on a canvas with every other position masked, for one wanted
// position and for all.
func BenchmarkLogits(b *testing.B) {
	benchModels(b, func(b *testing.B, m model.Model) {
		f := m.Facts()
		ids, all := make([]int64, f.Length), make([]int64, f.Length)
		for i := range ids {
			all[i] = int64(i)
			if ids[i] = int64(i * 7919 % f.MaskID); i%2 == 0 {
				ids[i] = int64(f.MaskID)
			}
		}
		var sigma []float64
		if f.TimeConditioned {
			sigma = []float64{1}
		}
		for _, wanted := range [][]int64{all[:1], all} {
			b.Run(fmt.Sprintf("wanted=%d", len(wanted)), func(b *testing.B) {
				call := func() {
					reftest.Must(m.Logits(context.Background(), samplers.Call{IDs: ids, Positions: wanted, Counts: []int{len(wanted)}, Sigma: sigma}))(b)
				}
				call() // The first call of a shape allocates the runtime's buffers.
				for b.Loop() {
					call()
				}
			})
		}
	})
}

// BenchmarkKept times a call that computes some rows and uses the kept keys and values of the
// others.
func BenchmarkKept(b *testing.B) {
	benchModels(b, func(b *testing.B, m model.Model) {
		net, f := m.(samplers.Keeper), m.Facts()
		c := samplers.Call{IDs: make([]int64, f.Length), Positions: []int64{0}, Counts: []int{1}, Kept: []samplers.Kept{net.Keep(f.Length)}}
		if f.TimeConditioned {
			c.Sigma = []float64{1}
		}
		for _, rows := range []int{f.Length, 1, 8, 20, 32} {
			b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
				c.Compute = nil
				for l := range rows {
					c.Compute = append(c.Compute, int64(l))
				}
				for b.Loop() {
					reftest.OK(b, reftest.Err(net.Logits(context.Background(), c)))
				}
			})
		}
	})
}
