package layer_test

import (
	"context"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestStop checks that a finished block that contains the stop token ends the sequence, which is
// filled with it.
func TestStop(t *testing.T) {
	net := lawstest.NewHashNet(false)
	for _, never := range []int{net.Mask, net.Columns} {
		reftest.Fails(t, reftest.Err(catalog.New(catalog.Options{LayerOptions: catalog.LayerOptions{BlockLength: 3, Stop: &never}}, net.Spec())), "stop: id", "stop", never)
	}
	canvas := slices.Repeat([]int{net.Mask}, 12)
	for _, name := range []string{"threshold", "ordered", "remdm"} {
		fill := func(d catalog.LayerOptions) samplers.Result {
			t.Helper()
			d.BlockLength = 3
			s := lawstest.New(t, catalog.Options{Sampler: name, LayerOptions: d})
			r, _ := lawstest.Collect(t, net, slices.Values([]samplers.Sequence{{Canvas: canvas}}), lawstest.Config(s, 1))
			return r[0]
		}
		whole := fill(catalog.LayerOptions{})
		for at, token := range whole.IDs {
			block := slices.Index(whole.IDs, token) / 3
			if at/3 != block {
				continue // not its first block
			}
			got := fill(catalog.LayerOptions{Stop: &token})
			want := slices.Concat(whole.IDs[:3*(block+1)], slices.Repeat([]int{token}, 12-3*(block+1)))
			if !slices.Equal(got.IDs, want) || block < 3 && got.Calls >= whole.Calls || got.Left != 0 {
				t.Errorf("%s, stop %d of %v: %v in %d of %d calls", name, token, whole.IDs, got.IDs, got.Calls, whole.Calls)
			}
		}
	}
}

// TestBlocks checks that a block is filled before the next, and that the first begins after the prompt.
func TestBlocks(t *testing.T) {
	net := lawstest.NewHashNet(false)
	canvas := []int{6, 1, 6, 6, 6, 6, 6}
	for reach, left := range map[string]int{"before": 0, "inside": 1} {
		s := lawstest.New(t, catalog.Options{Sampler: "threshold", RankOptions: catalog.RankOptions{Reach: reach}, LayerOptions: catalog.LayerOptions{BlockLength: 2, PromptLength: new(2)}})
		block := 0
		cfg := lawstest.Config(s, 1)
		cfg.OnStep = func(s samplers.Step) {
			for _, l := range s.Positions {
				if l >= 2 && (l-2)/2 < block {
					t.Errorf("position %d after block %d", l, block)
				}
				block = max(block, (l-2)/2)
			}
		}
		r, _ := lawstest.Collect(t, net, slices.Values([]samplers.Sequence{{Canvas: canvas}}), cfg)
		if r[0].Left != left || block != 2 {
			t.Errorf("reach %s: %+v", reach, r[0])
		}
	}
	s := lawstest.New(t, catalog.Options{Sampler: "threshold", LayerOptions: catalog.LayerOptions{BlockLength: 2, PromptLength: new(8)}})
	reftest.Fails(t, reftest.Err(lawstest.Last(lawstest.Engine(t, net, 1), context.Background(), samplers.Job{Canvas: canvas, Method: s})), "the prompt has 8 positions, but the canvas has 7", "a prompt that is too long")
}

// TestWindows checks that one block is the canvas, that blocks do not change an order from left to
// right, and that with other orders they are filled one after another.
func TestWindows(t *testing.T) {
	net := lawstest.NewHashNet(false)
	run := func(o catalog.Options) map[uint64]samplers.Result {
		t.Helper()
		cfg := lawstest.Config(lawstest.New(t, o), 4)
		at := make(map[uint64]int)
		cfg.OnStep = func(s samplers.Step) {
			for _, l := range s.Positions {
				if b := o.BlockLength; b > 0 && o.PromptLength != nil {
					if l/b < at[s.Index] {
						t.Errorf("%+v: sequence %d: position %d after block %d", o, s.Index, l, at[s.Index])
					}
					at[s.Index] = l / b
				}
			}
		}
		out, _ := lawstest.Collect(t, net, slices.Values(lawstest.Mixed()), cfg)
		return out
	}
	for _, o := range []catalog.Options{{}, {Lookahead: 4}, {Sampler: "ordered"}, {Sampler: "tweedie", Steps: 5}, {Sampler: "parallel-fhs", Steps: 3}, {Sampler: "remdm", Steps: 7}} {
		plain := run(o)
		o.LayerOptions = catalog.LayerOptions{BlockLength: 99}
		if !lawstest.SameIDs(run(o), plain) {
			t.Errorf("%+v: one block is not the canvas", o)
		}
		o.LayerOptions = catalog.LayerOptions{BlockLength: 2, PromptLength: new(int)}
		if same := lawstest.SameIDs(run(o), plain); same != (o.Sampler == "ordered") {
			t.Errorf("%+v: blocks change nothing: %t", o, same)
		}
	}
}
