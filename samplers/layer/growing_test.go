package layer_test

import (
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/rank"
)

// TestGrowing checks that a canvas grows by blocks until the end is drawn or the length is reached.
// From left to right this equals a canvas of the whole length. The growth of one canvas does not
// depend on others, and options without growth are rejected.
func TestGrowing(t *testing.T) {
	net := lawstest.NewHashNet(false)
	const m = 6
	run := func(o catalog.Options, batch int, canvas ...int) map[uint64]samplers.Result {
		t.Helper()
		s := lawstest.New(t, o)
		cfg := lawstest.Config(s, batch)
		length := make(map[uint64]int)
		cfg.OnStep = func(s samplers.Step) { length[s.Index] += s.Grown }
		out, _ := lawstest.Collect(t, net, samplers.Copies(canvas, 0, 30), cfg)
		for i, r := range out {
			if len(canvas)+length[i] != len(r.IDs) || r.Left > 0 || r.Calls > s.MostCalls(net.Spec(), canvas) {
				t.Errorf("%+v: %d and %d positions became %+v", o, len(canvas), length[i], r)
			}
		}
		return out
	}
	for _, o := range []catalog.Options{{}, {Lookahead: 3}, {Sampler: "uniformization", Steps: 4}, {Sampler: "tweedie", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, {Sampler: "threshold"}, {Sampler: "confidence", Steps: 2, RankOptions: catalog.RankOptions{Score: rank.ByMargin}},
		{Sampler: "remdm", Steps: 5}, {LayerOptions: catalog.LayerOptions{Correct: "gibbs:1x2"}}, {Sampler: "threshold", LayerOptions: catalog.LayerOptions{Guidance: 1}}} {
		o.BlockLength, o.MaxLength, o.Stop = 4, 18, new(3)
		lengths := make(map[int]int)
		got := run(o, 1, 1, 3, m, m, m, m)
		for _, r := range got {
			n := len(r.IDs)
			lengths[n]++
			stop := slices.Index(r.IDs[2:], 3) // the given one ends nothing
			if n != 6 && n != 10 && n != 14 && n != 18 || stop < 0 && n != 18 || stop >= 0 && 2+stop < n-4 {
				t.Errorf("%+v: %v", o, r.IDs)
			}
		}
		if len(lengths) < 3 {
			t.Errorf("%+v: only lengths %v", o, lengths)
		}
		if !lawstest.SameIDs(run(o, 7, 1, 3, m, m, m, m), got) {
			t.Errorf("%+v: other samples in a batch", o)
		}
	}
	for canvas, want := range map[string][]int{"max-length is 18": slices.Repeat([]int{m}, 19), "ends with given tokens": {m, m, 1}} {
		s := lawstest.New(t, catalog.Options{LayerOptions: catalog.LayerOptions{BlockLength: 4, Stop: new(3), MaxLength: 18}})
		reftest.Fails(t, reftest.Err(lawstest.Last(lawstest.Engine(t, net, 1), t.Context(), samplers.Job{Canvas: want, Method: s})), canvas, want)
	}
}
