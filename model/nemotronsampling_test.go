package model_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestNemotronPublished repeats the recorded loops at temperature 0, token by token, with as many calls
// about blocks, and one about the first position of each.
func TestNemotronPublished(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"nemotron", "nemotron-plain"} {
		dir := reftest.Reference(t, "nemotron", folder)
		m := reftest.Must(open(t, dir, model.Options{}))(t)
		f := reftest.Must(checkpoint.OpenFile(filepath.Join(dir, "nemotron-golden.safetensors")))(t)
		defer f.Close()
		number := func(key string) int { return reftest.Must(strconv.Atoi(f.Metadata[key]))(t) }
		// In blocks of one position each is drawn from the causal row before it.
		for run, block := range map[string]int{"threshold": 0, "one": 0, "greedy": 1} {
			x, _ := f.Tensor(run + ".tokens")
			starts, recorded := f.Tensor(run + ".call_context")
			prompt, size := number("prompt_length"), cmp.Or(block, number("block_size"))
			var want []int
			for _, id := range reftest.Must(x.Int64s())(t) {
				want = append(want, int(id))
			}
			canvas := slices.Repeat([]int{m.Facts().MaskID}, len(want))
			copy(canvas, want[:prompt])
			for _, cache := range []string{"", "none"} {
				greedy := 0.0
				o := catalog.Options{Sampler: "threshold", Cache: cache, Draw: draw.Settings{Temperature: &greedy}}
				if o.BlockLength, o.Threshold = block, 1; run == "threshold" {
					o.Threshold = 0.5
				}
				got, totals := sampled(t, m, canvas, 1, samplers.Config{Method: method(t, m, o)})
				if got, want := fmt.Sprint(got[0]), fmt.Sprint(want); got != want {
					t.Errorf("%s, %s, cache %q:\n%s, want\n%s", folder, run, cache, got, want)
				}
				calls := (len(want) - prompt + size - 1) / size
				if recorded {
					calls += starts.Shape[0]
				}
				if most := len(want) * calls; totals.Calls != calls || cache == "" && 2*totals.Positions > most {
					t.Errorf("%s, %s, cache %q: %d positions in %d calls, want %d calls", folder, run, cache, totals.Positions, totals.Calls, calls)
				}
			}
		}
	}
}

// TestNemotronSampling checks that any sampler fills blocks that begin where the prompt ends, the first
// position of each alone, and that ids are the same with kept rows, when a call computes at most a block
// after what is before the first, and without, alone and in batches.
func TestNemotronSampling(t *testing.T) {
	t.Parallel()
	m := reftest.Must(open(t, reftest.Reference(t, "nemotron", "nemotron-plain"), model.Options{}))(t)
	spec, size := m.Spec(), m.Spec().BlockSize
	begin, length := 5, 15
	ids := func(canvas []int, o catalog.Options, cache string, batch int) (out [][]int, totals samplers.Totals) {
		o.Cache = cache
		s := method(t, m, o)
		at := map[uint64][2]int{} // the block of a sequence, and how much of it is filled
		return sampled(t, m, canvas, 3, samplers.Config{Method: s, Seed: 3, Batch: batch, OnStep: func(step samplers.Step) {
			b, ok := at[step.Index]
			if !ok {
				b = [2]int{begin, 0}
			}
			for _, l := range step.Positions {
				if l >= b[0]+size {
					b = [2]int{b[0] + size, 0}
				}
				if l < b[0] || l > b[0] && b[1] == 0 || len(step.Positions) > 1 && b[1] == 0 {
					t.Errorf("%+v: position %d of a step of %d is filled in the block at %d", o, l, len(step.Positions), b[0])
				}
				b[1]++
			}
			at[step.Index] = b
		}})
	}
	canvas := slices.Repeat([]int{spec.Mask}, length)
	copy(canvas, []int{1, 6, 7, 8, 9})
	for _, o := range []catalog.Options{{}, {Lookahead: 3}, {Sampler: "ordered"}, {Sampler: "parallel-fhs", Steps: 2}, {Sampler: "tweedie", Steps: 3}, {Sampler: "confidence"}, {Sampler: "threshold"}, {Sampler: "remdm", Steps: 3},
		{LayerOptions: catalog.LayerOptions{Guidance: 1}}, {LayerOptions: catalog.LayerOptions{BadWordsIDs: "9 9,21"}}} {
		with, totals := ids(canvas, o, "", 1)
		if batched, _ := ids(canvas, o, "", 3); fmt.Sprint(batched) != fmt.Sprint(with) {
			t.Errorf("%+v: in batches\n%v\nalone\n%v", o, batched, with)
		}
		if without, _ := ids(canvas, o, "none", 1); fmt.Sprint(without) != fmt.Sprint(with) {
			t.Errorf("%+v: with kept rows\n%v\nwithout\n%v", o, with, without)
		}
		if n := totals.Rows - totals.Sequences; o.BadWordsIDs == "" && o.Lookahead == 0 && totals.Positions > 2*begin*totals.Sequences+size*n {
			t.Errorf("%+v: %d positions in %d calls", o, totals.Positions, totals.Calls)
		}
	}
	// Blocks may hold given tokens, or nothing else.
	canvas[7], canvas[9], canvas[10], canvas[11], canvas[12] = 3, 2, 4, 5, 6
	for _, o := range []catalog.Options{{}, {Sampler: "threshold"}} {
		with, _ := sampled(t, m, canvas, 3, samplers.Config{Method: method(t, m, o), Seed: 3})
		o.Cache = "none"
		without, _ := sampled(t, m, canvas, 3, samplers.Config{Method: method(t, m, o), Seed: 3})
		if fmt.Sprint(with) != fmt.Sprint(without) {
			t.Errorf("given tokens, %+v: with kept rows\n%v\nwithout\n%v", o, with, without)
		}
	}
	// A canvas that grows, and one without a prompt, whose first block has no causal row before it.
	grown := catalog.Options{Sampler: "threshold", LayerOptions: catalog.LayerOptions{MaxLength: 14, Stop: new(int)}}
	for _, c := range [][]int{{1, 6, 7, spec.Mask, spec.Mask}, slices.Repeat([]int{spec.Mask}, 7)} {
		with, _ := sampled(t, m, c, 2, samplers.Config{Method: method(t, m, grown), Seed: 3})
		o := grown
		o.Cache = "none"
		if without, _ := sampled(t, m, c, 2, samplers.Config{Method: method(t, m, o), Seed: 3}); fmt.Sprint(with) != fmt.Sprint(without) || len(with[0]) != 14 {
			t.Errorf("growing: with kept rows\n%v\nwithout\n%v", with, without)
		}
	}
	for _, o := range []catalog.Options{{Cache: "window"}, {Cache: "dual"}, {LayerOptions: catalog.LayerOptions{PromptLength: &begin}}, {LayerOptions: catalog.LayerOptions{Correct: "gibbs:1x1"}}} {
		reftest.Fails(t, reftest.Err(catalog.New(o, spec)), "", o, "is taken")
	}
}

// TestNemotronStop: a block ends at the stop token once no mask is before it.
func TestNemotronStop(t *testing.T) {
	t.Parallel()
	dir := reftest.Reference(t, "nemotron", "nemotron")
	m := reftest.Must(open(t, dir, model.Options{}))(t)
	f := reftest.Must(checkpoint.OpenFile(filepath.Join(dir, "nemotron-golden.safetensors")))(t)
	defer f.Close()
	x, _ := f.Tensor("one.tokens")
	canvas, greedy := slices.Repeat([]int{m.Facts().MaskID}, 45), 0.0
	var want []int
	for i, id := range reftest.Must(x.Int64s())(t) {
		if want = append(want, int(id)); i < 13 {
			canvas[i] = int(id)
		}
	}
	// The first token drawn is the stop token.
	for _, sampler := range []string{"threshold", "fhs"} {
		o := catalog.Options{Sampler: sampler, Draw: draw.Settings{Temperature: &greedy}}
		o.Stop = &want[13]
		got, totals := sampled(t, m, canvas, 1, samplers.Config{Method: method(t, m, o)})
		if fmt.Sprint(got[0]) != fmt.Sprint(slices.Concat(want[:13], slices.Repeat(want[13:14], 32))) || totals.Calls != 1 {
			t.Errorf("%s: %d calls write\n%v", sampler, totals.Calls, got[0])
		}
	}
}
