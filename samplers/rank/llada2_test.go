package rank_test

import (
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestNothingToEdit checks that edits end if nothing is masked and nothing may be edited, on a
// whole canvas and in a block.
func TestNothingToEdit(t *testing.T) {
	net := lawstest.NewHashNet(false)
	for _, d := range []catalog.LayerOptions{{}, {BlockLength: 2, PromptLength: new(0)}} {
		s := lawstest.NewFor(t, catalog.Options{Sampler: "llada2", RankOptions: catalog.RankOptions{EditingThreshold: 0.5}, LayerOptions: d}, net.Spec())
		seqs := []samplers.Sequence{{Index: 0, Canvas: []int{1, 2, 3, 4}}, {Index: 1, Canvas: []int{1, 2, 6, 4}}}
		got, _ := lawstest.Collect(t, net, slices.Values(seqs), lawstest.Config(s, 2))
		if r := got[0]; !slices.Equal(r.IDs, seqs[0].Canvas) || r.Calls != 0 {
			t.Errorf("%+v: %+v", d, r)
		}
		if r := got[1]; r.Left > 0 || r.Calls == 0 || r.Calls > s.MostCalls(net.Spec(), seqs[1].Canvas) {
			t.Errorf("%+v: %+v", d, r)
		}
	}
}

// TestEditsStayInTheBlock checks that tokens are replaced in the block that is being filled, and
// not in a finished block.
func TestEditsStayInTheBlock(t *testing.T) {
	net, edits := lawstest.NewHashNet(false), 0
	net.All = true
	s := lawstest.New(t, catalog.Options{Sampler: "llada2", RankOptions: catalog.RankOptions{Threshold: 0.2, EditingThreshold: 0.3}, LayerOptions: catalog.LayerOptions{BlockLength: 4}})
	cfg, block := lawstest.Config(s, 1), 0
	cfg.OnStep = func(s samplers.Step) {
		for _, l := range s.Positions {
			if l/4 < block {
				t.Errorf("position %d is changed in block %d", l, block)
			}
			block = max(block, l/4)
		}
		if edits += len(s.Positions) - s.Filled; s.Result != nil {
			block = 0
		}
	}
	lawstest.Collect(t, net, samplers.Copies(slices.Repeat([]int{6}, 16), 0, 9), cfg)
	if edits == 0 {
		t.Error("nothing was edited: the test shows nothing")
	}
}
