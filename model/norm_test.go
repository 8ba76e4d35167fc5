package model_test

import (
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/samplers/draw"
)

// Each RMSNorm of a call is one operator of the runtime, although none is in the graph's file.
func TestNormsAreFused(t *testing.T) {
	t.Parallel()
	// There are four a block, of which two are of heads, and the last. In the first block those of all
	// ids are folded, with int4 only what precedes the product.
	const all = 3*4 + 1
	for dtype, want := range map[graph.Dtype]int{graph.Float32: all - 3, graph.Float16: all - 3, graph.Int4: all - 1} {
		folder := t.TempDir()
		m := reftest.Must(open(t, reftest.Checkpoint(t, "qwen3"), model.Options{Dtype: dtype, Runtime: ort.Config{Profile: folder}}))(t)
		drawn(t, m, []int{m.Facts().MaskID, m.Facts().MaskID}, 1, draw.Settings{})
		reftest.OK(t, m.Close())
		count := map[string]int{}
		for _, r := range reftest.Must(ort.ReadProfiles(folder))(t) {
			count[r.Operator] += r.Nodes
		}
		if got := count["SimplifiedLayerNormalization"]; got != want || count["ReduceMean"] > 0 {
			t.Errorf("%s: %d norms, and %d in parts, want %d", dtype, got, count["ReduceMean"], want)
		}
	}
}
