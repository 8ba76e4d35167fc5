package model_test

import (
	"slices"
	"testing"

	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestLookaheadOnTheBuiltin looks ahead on the built-in network, over draws, samplers, lengths,
// prompts at either end, numbers of canvases and batches: 192 sequences have the same ids as with
// one canvas a call. On another machine one may differ, if a draw is within the rounding of rows,
// which depends on the rest of a call.
func TestLookaheadOnTheBuiltin(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	m := reftest.Must(open(t, reftest.Builtin(t), model.Options{Runtime: orttest.OneThread}))(t)
	mask := m.Facts().MaskID
	options := []catalog.Options{{}, {Sampler: "ordered"}, {Sampler: "matu", Steps: 8}, {Draw: draw.Settings{Temperature: new(0.8), TopP: 0.95}}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}}
	// sample returns the ids of 4 sequences and the number of rounds.
	sample := func(o catalog.Options, canvas []int, seed uint64, batch int) ([][]int, int) {
		ids, totals := sampled(t, m, canvas, 4, samplers.Config{Method: method(t, m, o), Seed: seed, Batch: batch})
		return ids, totals.Calls
	}
	runs, unequal := 0, 0
	for _, by := range []draw.By{draw.ByInverse, draw.ByGumbel} {
		for _, length := range []int{3, 8} {
			for prompt := range 4 {
				canvas := slices.Repeat([]int{mask}, length)
				if prompt&1 > 0 {
					copy(canvas, []int{500, 20})
				}
				if prompt&2 > 0 {
					canvas[length-1] = 70
				}
				for range 2 {
					o := options[runs/4%len(options)]
					o.By = by
					want, calls := sample(o, canvas, uint64(runs), 4)
					o.Lookahead = []int{2, 4, 8, 16, 32, 64}[runs/4%6]
					got, rounds := sample(o, canvas, uint64(runs), 1+runs/4%4)
					if rounds > calls {
						t.Errorf("%+v: %d rounds, %d calls without look-ahead", o, rounds, calls)
					}
					for i := range got {
						if runs++; !slices.Equal(got[i], want[i]) {
							unequal++
						}
					}
				}
			}
		}
	}
	if t.Logf("%d of %d sequences differ", unequal, runs); unequal > 1 {
		t.Errorf("%d of %d sequences differ", unequal, runs)
	}
}
