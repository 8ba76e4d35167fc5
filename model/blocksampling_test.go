package model_test

import (
	"fmt"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestBlockSampling checks that any sampler on a block-causal network fills block after block, and
// that the ids are the same with kept rows of finished blocks, when a call computes at most two
// blocks, and without.
func TestBlockSampling(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	for name, mask := range map[string]string{"bd3lm": "88", "bd3lm-noadaln": "70", "fast-dllm-v2": "80", "moe/sdar-moe": "61"} {
		m := reftest.Must(open(t, reftest.Checkpoint(t, name), model.Options{Override: map[string]string{"mask_id": mask, "length": "16"}}))(t)
		spec := m.Spec()
		canvas := slices.Repeat([]int{spec.Mask}, 15)
		copy(canvas, []int{5, 6, 7, 8, 9})
		for _, o := range []catalog.Options{{}, {Lookahead: 3}, {Sampler: "ordered"}, {Sampler: "parallel-fhs", Steps: 2}, {Sampler: "tweedie", Steps: 3}, {Sampler: "confidence", LayerOptions: catalog.LayerOptions{BlockLength: 2}}, {Sampler: "confidence", Steps: 5}, {Sampler: "threshold"}, {Sampler: "remdm", Steps: 3}, {LayerOptions: catalog.LayerOptions{Guidance: 1}}} {
			var ids [2][][]int
			for i, cache := range []string{"", "none"} {
				o.Cache = cache
				s := method(t, m, o)
				if set := s.Settings(); set.BlockLength > spec.BlockSize || (set.Cache == "blocks") != (i == 0) {
					t.Errorf("settings are %+v", set)
				}
				for _, batch := range []int{1, 3} {
					done := 0
					four, totals := sampled(t, m, canvas, 4, samplers.Config{Method: s, Seed: 3, Batch: batch, OnStep: func(step samplers.Step) {
						for _, l := range step.Positions {
							if step.Index == 0 && l/spec.BlockSize < done {
								t.Errorf("position %d is filled behind block %d", l, done)
							}
							if step.Index == 0 && spec.Shift && l/spec.BlockSize > done && l%spec.BlockSize > 0 {
								t.Errorf("%s, %+v: position %d is filled before the first of its block", name, o, l)
							}
							if step.Index == 0 {
								done = l / spec.BlockSize
							}
						}
					}})
					ids[i] = append(ids[i], four...)
					full, canvases := len(four)*s.Canvases()*len(canvas), s.Canvases()
					if most := full + 2*spec.BlockSize*canvases*totals.Calls; i == 0 && o.Lookahead == 0 && totals.Positions > most {
						t.Errorf("%s, %+v: %d positions in %d calls, want at most %d", name, o, totals.Positions, totals.Calls, most)
					}
				}
			}
			if a, b := fmt.Sprint(ids[0]), fmt.Sprint(ids[1]); a != b {
				t.Errorf("%s, %+v: with kept rows\n%s\nwithout\n%s", name, o, a, b)
			}
		}
	}
}

// TestGivenBlocks: given blocks see those before them that are filled, and so must what they keep.
func TestGivenBlocks(t *testing.T) {
	t.Parallel()
	for name, mask := range map[string]string{"bd3lm": "88", "fast-dllm-v2": "80", "moe/sdar-moe": "61"} {
		m := reftest.Must(open(t, reftest.Checkpoint(t, name), model.Options{Override: map[string]string{"mask_id": mask}}))(t)
		size, spec := m.Spec().BlockSize, m.Spec()
		canvas := slices.Repeat([]int{spec.Mask}, 4*size)
		canvas[0] = 5
		for l := size; l < 3*size; l++ {
			canvas[l] = 6 + l
		}
		for _, o := range []catalog.Options{{}, {Lookahead: 3}, {Sampler: "threshold"}, {LayerOptions: catalog.LayerOptions{Guidance: 1}}} {
			with, _ := sampled(t, m, canvas, 3, samplers.Config{Method: method(t, m, o), Seed: 3, Batch: 1})
			o.Cache = "none"
			without, _ := sampled(t, m, canvas, 3, samplers.Config{Method: method(t, m, o), Seed: 3, Batch: 1})
			if fmt.Sprint(with) != fmt.Sprint(without) {
				t.Errorf("%s, %+v: with kept rows\n%v\nwithout\n%v", name, o, with, without)
			}
		}
	}
}

// TestInsideBlocks checks sampling with blocks inside a network's own and their rows kept: canvases
// are filled with fewer computed positions than by the network's blocks, and ids do not depend on
// the batch.
func TestInsideBlocks(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	for name, mask := range map[string]string{"bd3lm-block8": "82", "fast-dllm-v2": "80"} {
		m := reftest.Must(open(t, reftest.Checkpoint(t, name), model.Options{Override: map[string]string{"mask_id": mask}}))(t)
		canvas := slices.Repeat([]int{m.Spec().Mask}, 27)
		copy(canvas, []int{5, 6, 7, 8, 9})
		for _, o := range []catalog.Options{{}, {Sampler: "tweedie", Steps: 3}, {Sampler: "confidence", Steps: 12}, {Sampler: "threshold"}} {
			o.BlockLength = 4
			var ids [3][][]int
			var positions [3]int
			for i, how := range []string{"dual", "dual", ""} {
				o.Cache = how
				all, totals := sampled(t, m, canvas, 4, samplers.Config{Method: method(t, m, o), Seed: 3, Batch: 1 + 2*i})
				ids[i], positions[i] = all, totals.Positions
			}
			if fmt.Sprint(ids[0]) != fmt.Sprint(ids[1]) || positions[0] != positions[1] || positions[0] >= positions[2] {
				t.Errorf("%s, %+v: %v alone and %v with others; %d positions, %d by blocks", name, o, ids[0], ids[1], positions[0], positions[2])
			}
		}
		for _, o := range []catalog.Options{{Cache: "window"}, {Cache: "prefix"}, {Cache: "dual", Lookahead: 2}} {
			reftest.Fails(t, reftest.Err(catalog.New(o, m.Spec())), "", name, o, "is taken")
		}
	}
}
