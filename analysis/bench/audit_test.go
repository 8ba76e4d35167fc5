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

// TestAuditMetrics checks the losses of groups and of caches, each against its own reference. They
// are 0 for groups of one and for a window of the whole canvas; a decoder that chooses by rows has
// no audit.
func TestAuditMetrics(t *testing.T) {
	t.Parallel()
	net, err := model.Open(context.Background(), reftest.Data(t, "reference", "checkpoints", "mdlm"), model.Options{Runtime: orttest.OneThread, Dtype: graph.Float32})
	orttest.Opened(t, net, err)
	canvas := slices.Repeat([]int{net.Spec().Mask}, 12)
	for _, test := range []struct {
		o    catalog.Options
		want string // the first metric, "" for none
		lost bool
	}{
		{catalog.Options{Sampler: "fhs"}, "groups_kl", false},
		{catalog.Options{Sampler: "parallel-fhs", Steps: 3}, "groups_kl", true},
		{catalog.Options{Sampler: "fhs", Cache: "window:99"}, "cache_kl", false},
		{catalog.Options{Sampler: "fhs", Cache: "window:0/inf"}, "cache_kl", true},
		{catalog.Options{Sampler: "parallel-fhs", Steps: 3, Cache: "window:0/inf"}, "cache_kl", true},
		{catalog.Options{Sampler: "confidence", Steps: 3}, "", false},
	} {
		cell := reftest.Must(bench.NewCell(bench.Setting{Options: test.o}, net, canvas, 2))(t)
		metrics, err := bench.AuditMetrics(context.Background(), &cell, bench.AuditConfig{Texts: 3, Seed: 1, Confidence: 0.95})
		switch {
		case err != nil || (metrics != nil) != (test.want != ""):
			t.Errorf("%s: %v, %v", cell.ID, metrics, err)
		case metrics != nil && (metrics[0].Name != test.want || (metrics[0].Value.Mean > 0) != test.lost || (metrics[1].Value.Mean > 0) != test.lost):
			t.Errorf("%s: %+v", cell.ID, metrics)
		}
	}
	world := open(t, "markov3-exact")
	if _, err := bench.NewCell(bench.Setting{Options: catalog.Options{Cache: "window"}}, world, slices.Repeat([]int{world.Facts().MaskID}, world.Facts().Length), 1); err == nil || !strings.Contains(err.Error(), "cannot cache keys") {
		t.Errorf("a world keeps keys and values: %v", err)
	}
}
