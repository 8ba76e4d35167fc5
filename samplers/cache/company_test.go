package cache_test

import (
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// cases returns samplers to wrap in a cache.
func cases(net *toy) map[string]catalog.Options {
	blocks := catalog.LayerOptions{BlockLength: 4}
	guided := catalog.LayerOptions{Guidance: 0.5}
	out := map[string]catalog.Options{
		"fhs": {}, "groups": {Sampler: "parallel-fhs", Steps: 4}, "spread": {Sampler: "spread", Steps: 4}, "euler": {Sampler: "euler", Steps: 6},
		"blocks": {LayerOptions: blocks}, "guided": {LayerOptions: guided}, "confidence": {Sampler: "confidence", Steps: 8, LayerOptions: blocks},
		"threshold": {Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: 0.5}, LayerOptions: catalog.LayerOptions{BlockLength: 4}},
		"corrected": {LayerOptions: catalog.LayerOptions{Correct: "gibbs:2x3"}},
		"ahead":     {Lookahead: 3}, "guided ahead": {Lookahead: 3, LayerOptions: guided},
		"grown": {Sampler: "ordered", LayerOptions: catalog.LayerOptions{BlockLength: 3, Stop: new(0), MaxLength: 15}},
	}
	if net.shift {
		delete(out, "guided") // it hides the first token
		delete(out, "guided ahead")
	}
	return out
}

func nets() []*toy {
	plain, shifted := newToy(5, 20), newToy(5, 20)
	shifted.shift = true
	return []*toy{plain, shifted}
}

// TestEverythingAsked checks that if each call computes all rows, ids are those without a cache.
func TestEverythingAsked(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	for _, net := range nets() {
		canvas := masks(net, 12, 1, 0)
		for name, o := range cases(net) {
			want, _ := fill(t, net, lawstest.NewFor(t, o, net.Spec()), canvas, 10, samplers.Config{Batch: 4})
			for _, how := range []string{"window:20", "window:0/1"} {
				o.Cache = how
				if got, _ := fill(t, net, lawstest.NewFor(t, o, net.Spec()), canvas, 10, samplers.Config{Batch: 4}); !lawstest.SameIDs(got, want) {
					t.Errorf("%s, cache %s: other ids", name, how)
				}
			}
		}
	}
}

// TestCompany checks that ids depend neither on the batch nor on memory, and that memory is freed
// and bounded.
func TestCompany(t *testing.T) {
	t.Parallel()
	for _, net := range nets() {
		canvas := masks(net, 14, 1, 0)
		for name, o := range cases(net) {
			for _, how := range []string{"window:1/6/1", "dual", "prefix"} {
				if o.Cache = how; how[0] != 'w' && o.BlockLength == 0 {
					continue
				}
				s := lawstest.NewFor(t, o, net.Spec())
				want, alone := fill(t, net, s, canvas, 12, samplers.Config{})
				one := alone.MostKept
				got, many := fill(t, net, s, canvas, 12, samplers.Config{Batch: 7})
				if !lawstest.SameIDs(got, want) || many.Positions != alone.Positions || many.MostKept > 7*one {
					t.Errorf("%s, cache %s, batch 7: %d positions and %d of %d bytes, alone %d", name, how, many.Positions, many.MostKept, one, alone.Positions)
				}
				got, bounded := fill(t, net, s, canvas, 12, samplers.Config{Batch: 7, Keep: 2 * one})
				if !lawstest.SameIDs(got, want) || bounded.MostKept > 2*one {
					t.Errorf("%s, cache %s, bounded: %d bytes, one sequence has %d", name, how, bounded.MostKept, one)
				}
				if got, _ = fill(t, net, s, canvas, 12, samplers.Config{Batch: 3, Keep: 1}); !lawstest.SameIDs(got, want) {
					t.Errorf("%s, cache %s: other ids without memory", name, how)
				}
				o.Cache = ""
				if _, all := fill(t, net, lawstest.NewFor(t, o, net.Spec()), canvas, 12, samplers.Config{}); name != "corrected" && o.Sampler != "threshold" && alone.Positions >= all.Positions {
					t.Errorf("%s, cache %s computes %d positions of %d", name, how, alone.Positions, all.Positions)
				}
			}
		}
	}
}

// TestBlocksAreFilled checks that the first call of a block of a shifted network, which can reveal one
// position only, leaves the rest of its share to later calls.
func TestBlocksAreFilled(t *testing.T) {
	t.Parallel()
	for _, net := range nets() {
		for _, o := range []catalog.Options{
			{Sampler: "confidence"}, {Sampler: "confidence", RankOptions: catalog.RankOptions{Rule: "dllm"}},
			{Sampler: "confidence", RankOptions: catalog.RankOptions{Rule: "dllm", Transfer: "binomial"}},
			{Sampler: "threshold", RankOptions: catalog.RankOptions{Rule: "dream", Threshold: 0.3}},
		} {
			for o.Steps = 3; o.Steps <= 12; o.Steps += 3 {
				o.Cache, o.BlockLength = "dual", 4
				out, _ := fill(t, net, lawstest.NewFor(t, o, net.Spec()), masks(net, 14, 1, 0), 4, samplers.Config{})
				for i, r := range out {
					if r.Left > 0 {
						t.Errorf("shift %t, %s %s %s, %d steps: %d masks are left in sample %d", net.shift, o.Sampler, o.Rule, o.Transfer, o.Steps, r.Left, i)
					}
				}
			}
		}
	}
}

// TestAuditChangesNothing checks that an audit changes neither ids nor the positions computed.
func TestAuditChangesNothing(t *testing.T) {
	t.Parallel()
	for _, net := range nets() {
		canvas := masks(net, 14, 1, 0)
		for name, o := range cases(net) {
			o.Cache = "window:1/6"
			want, without := fill(t, net, lawstest.NewFor(t, o, net.Spec()), canvas, 10, samplers.Config{Batch: 4})
			o.Audit = 0.5
			got, with := fill(t, net, lawstest.NewFor(t, o, net.Spec()), canvas, 10, samplers.Config{Batch: 4})
			if !lawstest.SameIDs(got, want) || with.Positions != without.Positions || with.Rows != without.Rows {
				t.Errorf("%s: other ids, or %d positions in place of %d", name, with.Positions, without.Positions)
			}
		}
	}
}
