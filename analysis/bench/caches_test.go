package bench_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/bench"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/graph"
	"mdmgen/samplers/catalog"
)

// TestCheapestCache checks that the cheapest cache within a cost is found: of any cost, the one that
// computes the fewest positions; of one between those of two caches, one whose interval is below it;
// of almost none, no cache. All intervals share the doubt.
func TestCheapestCache(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	net, err := model.Open(ctx, reftest.Data(t, "reference", "checkpoints", "mdlm"), model.Options{Runtime: orttest.OneThread, Dtype: graph.Float32})
	orttest.Opened(t, net, err)
	canvas := slices.Repeat([]int{net.Spec().Mask}, 16)
	find := func(o catalog.Options, cost float64) (bench.Tried, []bench.Tried) {
		found, all, err := bench.CheapestCache(ctx, net, canvas, o, cost, bench.CacheConfig{Seed: 1, Confidence: 0.9, Batch: 16})
		reftest.OK(t, err)
		for i, one := range all {
			if one.KL.Confidence < 0.9 || one.Within != (one.KL.Hi <= cost) || one.Share >= 1 || one.Share <= 0 {
				t.Errorf("cost %v: %+v", cost, one)
			}
			if one.Within && (found.Cache == "" || one.Computed < found.Computed) {
				t.Errorf("cost %v: %s is cheaper than %s", cost, all[i].Cache, found.Cache)
			}
		}
		return found, all
	}
	any, _ := find(catalog.Options{Sampler: "fhs"}, 1e9)
	if any.Cache != "window:1/16" {
		t.Errorf("for any cost %s, want the cheapest", any.Cache)
	}
	if found, all := find(catalog.Options{Sampler: "fhs"}, any.KL.Mean); found.Cache == any.Cache || len(all) < 2 {
		t.Errorf("%s for what it costs itself on average: its interval is not below that", found.Cache)
	}
	if found, _ := find(catalog.Options{Sampler: "fhs"}, 1e-300); found.Cache != "" {
		t.Errorf("%s costs almost nothing", found.Cache)
	}
	in := catalog.Options{Sampler: "confidence", Steps: 8}
	if _, _, err := bench.CheapestCache(ctx, net, canvas, in, 1, bench.CacheConfig{}); err == nil || !strings.Contains(err.Error(), "queries all masked positions") {
		t.Errorf("confidence without blocks has a cache: %v", err)
	}
	in.BlockLength = 4
	if _, all := find(in, 1e-300); !slices.ContainsFunc(all, func(t bench.Tried) bool { return t.Cache == "prefix" }) {
		t.Errorf("blocks are tried with %+v", all)
	}
}
