package model_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"mdmgen/builtin"
	"mdmgen/model"
	"mdmgen/model/ort"
	"mdmgen/samplers"
)

// BenchmarkLogits times a call on a canvas of which every other position is
// masked, for one wanted position and for all. It runs the built-in model and,
// where the environment variable MDMGEN_BENCH_MODEL names one, that model too.
func BenchmarkLogits(b *testing.B) {
	refs := []string{"fairytale"}
	if ref := os.Getenv("MDMGEN_BENCH_MODEL"); ref != "" {
		refs = append(refs, ref)
	}
	for _, ref := range refs {
		m, err := model.Open(context.Background(), ref, model.Options{Builtins: []model.Builtin{{Name: "fairytale", FS: builtin.Fairytale()}}})
		var missing *ort.MissingError
		if errors.As(err, &missing) {
			b.Skip(err)
		}
		if err != nil {
			b.Fatal(err)
		}
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
			b.Run(fmt.Sprintf("model=%s/wanted=%d", f.Name, len(wanted)), func(b *testing.B) {
				call := func() {
					if _, err := m.Logits(context.Background(), samplers.Call{IDs: ids, Positions: wanted, Counts: []int{len(wanted)}, Sigma: sigma}); err != nil {
						b.Fatal(err)
					}
				}
				call() // The first call of a shape makes the runtime's buffers.
				for b.Loop() {
					call()
				}
			})
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
