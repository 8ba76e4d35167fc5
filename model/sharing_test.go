package model_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestSharing checks for every family whose finished rows stay valid that canvases which begin alike have the
// ids that they have alone, whatever is shared, and that something is.
func TestSharing(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	for name, facts := range map[string]map[string]string{
		"bd3lm": {"mask_id": "88"}, "bd3lm-block8": {"mask_id": "82"}, "bd3lm-noadaln": {"mask_id": "70"}, "fast-dllm-v2": {"mask_id": "80"}, "sdar": nil,
		"moe/sdar-moe": {"mask_id": "61"}, "moe/llada2-plain": {"mask_id": "90", "block_size": "4"}, "nemotron/nemotron": nil, "nemotron/nemotron-plain": nil,
	} {
		m := reftest.Must(open(t, reftest.Checkpoint(t, name), model.Options{Override: facts}))(t)
		r := rand.New(rand.NewPCG(1, 1))
		options := []catalog.Options{{}, {Sampler: "threshold"}, {Sampler: "parallel-fhs", Steps: 2}, {Sampler: "ar"}, {Lookahead: 2}}
		if m.Spec().Causal {
			options = append(options, catalog.Options{Sampler: "speculate"}, catalog.Options{Sampler: "speculate", CausalOptions: catalog.CausalOptions{Window: 3}})
		}
		for _, o := range options {
			var seqs []samplers.Sequence
			for i := range 25 {
				canvas := []int{5}
				for range r.IntN(min(m.Facts().Length, 64) - 8) {
					canvas = append(canvas, 5+r.IntN(40)/39)
				}
				canvas = append(canvas, slices.Repeat([]int{m.Spec().Mask}, 1+r.IntN(7))...)
				seqs = append(seqs, samplers.Sequence{Index: uint64(i), Canvas: canvas})
			}
			cfg := samplers.Config{Method: method(t, m, o), Seed: 1, Batch: 1}
			alone, without := lawstest.Collect(t, m, slices.Values(seqs), cfg)
			for _, bytes := range []int64{10_000, 1 << 20} {
				cfg.Batch, cfg.Store = 5, samplers.NewStore(bytes)
				shared, with := lawstest.Collect(t, m, slices.Values(seqs), cfg)
				if !lawstest.SameIDs(shared, alone) || bytes > 10_000 && (with.Positions >= without.Positions || with.Cached == 0) {
					t.Errorf("%s, %s, %d bytes: %d positions of %d, %d are shared; other ids: %t", name, o.Sampler, bytes, with.Positions, without.Positions, with.Cached, !lawstest.SameIDs(shared, alone))
				}
			}
		}
	}
}
