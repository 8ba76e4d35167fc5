package likelihood

import (
	"math"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestCached checks that a text's probability under a cache in a given order is the one that the
// sampler drew it with; that over orders it is the mean; that it equals the value without a cache
// if every position is recomputed; and that bounds by plans are above it.
func TestCached(t *testing.T) {
	for _, name := range []string{"mdlm", "dream-tied-fp16"} {
		e := tiny(t, name)
		spec := e.model.Spec()
		sampler := func(o catalog.Options) *catalog.Sampler { return reftest.Must(catalog.New(o, spec))(t) }
		value := func(target Target, o catalog.Options) float64 {
			return reftest.Must(e.Values(t.Context(), []Target{target}, sampler(o)))(t)[0].Sampler.NegLog
		}
		target := Target{IDs: []int{5, 17, 9, 30, 3, 42, 7, 11}, Free: []int{1, 3, 4, 7}}
		canvas := reftest.Must(e.canvasOf(target))(t)
		reftest.Must(samplers.Sample(t.Context(), e.model, slices.Values([]samplers.Sequence{{Canvas: canvas}, {Index: 1, Canvas: canvas}}), samplers.Config{Method: sampler(catalog.Options{Sampler: "ordered", Cache: "window:0/inf"}), Batch: 2}, func(r samplers.Result) error {
			if got := value(Target{IDs: r.IDs, Free: target.Free}, catalog.Options{Sampler: "ordered", Cache: "window:0/inf"}); math.Abs(got+r.LogP) > 1e-5 {
				t.Errorf("%s: left to right −log P is %v, drawn with %v", name, got, -r.LogP)
			}
			return nil
		}))(t)
		var logs []float64
		for _, order := range []string{"1,3,4,7", "1,3,7,4", "1,4,3,7", "1,4,7,3", "1,7,3,4", "1,7,4,3", "3,1,4,7", "3,1,7,4", "3,4,1,7", "3,4,7,1", "3,7,1,4", "3,7,4,1",
			"4,1,3,7", "4,1,7,3", "4,3,1,7", "4,3,7,1", "4,7,1,3", "4,7,3,1", "7,1,3,4", "7,1,4,3", "7,3,1,4", "7,3,4,1", "7,4,1,3", "7,4,3,1"} {
			logs = append(logs, -value(target, catalog.Options{Sampler: "ordered", Order: order, Cache: "window:0/inf"}))
		}
		kept := value(target, catalog.Options{Cache: "window:0/inf"})
		if want := math.Log(24) - logSum(logs); math.Abs(kept-want) > 1e-9 {
			t.Errorf("%s: over orders −log P is %v, want %v", name, kept, want)
		}
		full := value(target, catalog.Options{})
		if got := value(target, catalog.Options{Cache: "window:9"}); math.Abs(got-full) > 1e-4 || math.Abs(kept-full) < 1e-3 {
			t.Errorf("%s: where everything is asked −log P is %v, without a cache %v, with one %v", name, got, full, kept)
		}
		bound := reftest.Must(e.Estimate(t.Context(), []Target{target}, 0, Config{Form: Plans, Plans: 4, Draws: 16, Sampler: sampler(catalog.Options{Cache: "window:0/inf"})}))(t)[0].Nats
		if t.Logf("%s: −log P is %.5f, with a cache %.5f, bounded by %.5f ± %.5f", name, full, kept, bound.Mean, bound.SE); bound.Mean+4*bound.SE < kept || bound.Mean > kept+1 {
			t.Errorf("%s: the bound of %v is %v ± %v", name, kept, bound.Mean, bound.SE)
		}
		long := Target{IDs: target.IDs, Free: []int{1, 2, 3, 4, 5, 6, 7}}
		for _, refused := range []struct {
			o    catalog.Options
			want string
		}{
			{catalog.Options{Cache: "window"}, "at most 6"}, {catalog.Options{Sampler: "tweedie", Cache: "window"}, "estimator plans"},
			{catalog.Options{Sampler: "trapezoidal", Cache: "window"}, "no such plan"}, {catalog.Options{Cache: "dual", RankOptions: catalog.RankOptions{BlockLength: 4}}, "no such plan"},
		} {
			reftest.Fails(t, reftest.Err(e.Values(t.Context(), []Target{long}, sampler(refused.o))), refused.want, name, refused.o)
		}
	}
}
