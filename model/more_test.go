package model

import (
	"fmt"
	"path/filepath"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/samplers"
)

// moreFolders are reference networks with the id of MASK, which only their tokenizers have, and twice
// the difference of the authors' code from a second implementation.
var moreFolders = map[string]struct {
	mask  string
	limit float64
}{"modernbert": {"99", 8.3e-5}, "diffugpt": {"97", 1.05e-5}, "diffullama": {"94", 8.8e-6}}

// more opens one of them.
func more(t *testing.T, name string, d graph.Dtype) heads {
	t.Helper()
	return keeper(t, reftest.Reference(t, "more", name), Options{Dtype: d, Override: map[string]string{"mask_id": moreFolders[name].mask}})
}

// TestMore compares rows with those of the authors' code: of whole canvases, of a few positions, and of
// few rows beside kept ones.
func TestMore(t *testing.T) {
	t.Parallel()
	for name, c := range moreFolders {
		net := more(t, name, graph.Float32)
		f := reftest.Must(checkpoint.OpenFile(filepath.Join(reftest.Reference(t, "more", name), "more-golden.safetensors")))(t)
		defer f.Close()
		worst, compared := 0.0, 0
		for n := range 5 {
			ids, want := tensor(t, f, checkpoint.Tensor.Int64s, "input_ids.%d", n), tensor(t, f, checkpoint.Tensor.Float32s, "logits.%d", n)
			x, _ := f.Tensor(fmt.Sprintf("input_ids.%d", n))
			columns, length := net.facts.Columns, x.Shape[1]
			for i := range x.Shape[0] {
				from, to := i*length, (i+1)*length
				some := []int64{int64(length) - 1, 0, int64(length) / 2}
				rows := want[from*columns : to*columns]
				var few []float32
				for _, l := range some {
					few = append(few, rows[int(l)*columns:][:columns]...)
				}
				call := samplers.Call{IDs: ids[from:to], Positions: everywhere(length), Counts: []int{length}}
				worst = max(worst, apart(rowsOf(t, net, ids[from:to], everywhere(length)...), rows), apart(rowsOf(t, net, ids[from:to], some...), few))
				call.Kept = []samplers.Kept{net.Keep(length)}
				worst = max(worst, apart(reftest.Must(net.Logits(t.Context(), call))(t), rows))
				if call.Compute = []int64{0, int64(length) / 2, int64(length) - 1}; length > 2 {
					call.Positions, call.Counts = some, []int{3}
					worst = max(worst, apart(reftest.Must(net.Logits(t.Context(), call))(t), few))
				}
				compared++
			}
		}
		if t.Logf("%s: rows of %d canvases differ by at most %.2g", name, compared, worst); !(worst <= c.limit) || compared != 9 {
			t.Errorf("%s: rows differ by %g", name, worst)
		}
	}
}
