package model

import (
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/graph"
	"mdmgen/samplers"
)

// TestOneWanted checks that a row has the same bits if it is the only one that is wanted and if its
// call wants more, as when sequences share calls. In 8 bits a difference in the last bit may move a
// value to the next step.
func TestOneWanted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mdlm", "mdlm-timecond", "radd", "sedd", "llada-gqa-bf16", "qwen2", "bert", "bd3lm", "modernbert", "diffugpt"} {
		for _, d := range []graph.Dtype{graph.Float32, graph.Int8} {
			net := another(t, name, d)
			c := samplers.Call{IDs: []int64{1, 2, 3, 4, 5, 6, 7}, Positions: []int64{3}, Counts: []int{1}}
			if net.Facts().TimeConditioned {
				c.Sigma = []float64{0.5}
			}
			alone := slices.Clone(reftest.Must(net.Logits(t.Context(), c))(t))
			c.Positions, c.Counts = []int64{3, 5, 6}, []int{3}
			if more := reftest.Must(net.Logits(t.Context(), c))(t)[:len(alone)]; !slices.Equal(alone, more) {
				t.Errorf("%s, %s: alone a row differs by %g", name, d, apart(alone, more))
			}
		}
	}
}
