package cache_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// masks returns a canvas of length positions that begins with the given tokens.
func masks(net *toy, length int, given ...int) []int {
	canvas := slices.Repeat([]int{net.vocabulary}, length)
	copy(canvas, given)
	return canvas
}

func newSampler(t testing.TB, net samplers.Network, o catalog.Options) *catalog.Sampler {
	t.Helper()
	return reftest.Must(catalog.New(o, net.Spec()))(t)
}

// fill makes n samples of a canvas.
func fill(t testing.TB, net samplers.Network, m samplers.Method, canvas []int, n int, cfg samplers.Config) (map[uint64]samplers.Result, samplers.Totals) {
	t.Helper()
	out := make(map[uint64]samplers.Result)
	cfg.Method = m
	totals, err := samplers.Sample(context.Background(), net, func(yield func(samplers.Sequence) bool) {
		for i := range uint64(n) {
			if !yield(samplers.Sequence{Index: i, Canvas: canvas}) {
				return
			}
		}
	}, cfg, func(r samplers.Result) error {
		out[r.Index] = r
		return nil
	})
	reftest.OK(t, err)
	if totals.Kept != 0 {
		t.Errorf("%d bytes are kept when all is done", totals.Kept)
	}
	return out, totals
}

func sameIDs(a, b map[uint64]samplers.Result) bool {
	return maps.EqualFunc(a, b, func(x, y samplers.Result) bool { return slices.Equal(x.IDs, y.IDs) })
}
