package cache_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/graph"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestFamilies checks that for every family ids are those without a cache if all rows are computed,
// and with few computed positions depend only on the seed and the index.
func TestFamilies(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	for _, name := range []string{"mdlm", "mdlm-timecond", "radd", "sedd", "llada-gqa-bf16", "dream-tied-fp16", "qwen2", "bert", "llada-moe", "more/modernbert", "more/diffugpt"} {
		o, dir := model.Options{Runtime: orttest.OneThread, Dtype: graph.Float32}, t.TempDir()
		if checkpointtest.Experts[name] != "" {
			reftest.OK(t, os.CopyFS(dir, checkpointtest.ExpertFolder(name)))
		} else {
			dir = reftest.Checkpoint(t, name)
		}
		if mask := map[string]string{"more/modernbert": "99", "more/diffugpt": "97"}[name]; mask != "" {
			o.Override = map[string]string{"mask_id": mask}
		}
		net, err := model.Open(context.Background(), dir, o)
		orttest.Opened(t, net, err)
		canvas := slices.Repeat([]int{net.Spec().Mask}, min(net.Facts().Length, 16))
		canvas[0], canvas[5] = 3, 1
		ids := func(how string, batch int, keep int64) map[uint64]samplers.Result {
			out, totals := fill(t, net, lawstest.NewFor(t, catalog.Options{Cache: how}, net.Spec()), canvas, 6, samplers.Config{Batch: batch, Keep: keep, Store: samplers.NewStore(1 << 20)})
			if totals.Cached > 0 {
				t.Errorf("%s: rows that depend on all positions are shared", name)
			}
			if how != "" && totals.MostKept == 0 {
				t.Errorf("%s, cache %s: nothing was ever kept", name, how)
			}
			return out
		}
		if !lawstest.SameIDs(ids("window:99", 3, 0), ids("", 3, 0)) {
			t.Errorf("%s: other ids where everything is asked", name)
		}
		if alone := ids("window:1/8", 1, 0); !lawstest.SameIDs(alone, ids("window:1/8", 5, 0)) || !lawstest.SameIDs(alone, ids("window:1/8", 5, 1)) {
			t.Errorf("%s: ids depend on company", name)
		}
	}
}
