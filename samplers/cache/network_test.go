package cache_test

import (
	"context"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/graph"
	"mdmgen/model/ort/orttest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestFamilies checks that for every family ids are those without a cache if all rows are computed,
// and with few computed positions depend only on the seed and the index.
func TestFamilies(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mdlm", "mdlm-timecond", "radd", "sedd", "llada-gqa-bf16", "dream-tied-fp16", "qwen2", "bert"} {
		net, err := model.Open(context.Background(), reftest.Data(t, "reference", "checkpoints", name), model.Options{Runtime: orttest.OneThread, Dtype: graph.Float32})
		orttest.Opened(t, net, err)
		canvas := slices.Repeat([]int{net.Spec().Mask}, min(net.Facts().Length, 16))
		canvas[0], canvas[5] = 3, 1
		ids := func(how string, batch int, keep int64) (out [8][]int) {
			s := reftest.Must(catalog.New(catalog.Options{Cache: how}, net.Spec()))(t)
			totals, err := samplers.Sample(context.Background(), net, func(yield func(samplers.Sequence) bool) {
				for i := range uint64(len(out)) {
					if !yield(samplers.Sequence{Index: i, Canvas: canvas}) {
						return
					}
				}
			}, samplers.Config{Method: s, Batch: batch, Keep: keep}, func(r samplers.Result) error {
				out[r.Index] = r.IDs
				return nil
			})
			if err != nil || totals.Kept != 0 || how != "" && totals.MostKept == 0 {
				t.Fatalf("%s, cache %s: %v, %d bytes are kept, at most %d", name, how, err, totals.Kept, totals.MostKept)
			}
			return out
		}
		same := func(a, b [8][]int) bool { return slices.EqualFunc(a[:], b[:], slices.Equal) }
		if !same(ids("window:99", 3, 0), ids("", 3, 0)) {
			t.Errorf("%s: other ids where everything is asked", name)
		}
		if alone := ids("window:1/8", 1, 0); !same(alone, ids("window:1/8", 5, 0)) || !same(alone, ids("window:1/8", 5, 1)) {
			t.Errorf("%s: ids depend on company", name)
		}
	}
}
