package model

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/samplers"
)

// expertFolders are the reference networks with experts, and the facts that only their authors' code
// has.
var expertFolders = map[string]map[string]string{
	"llada-moe":    {"mask_id": "97"},
	"llada2":       {"mask_id": "96", "block_size": "8"},
	"llada2-plain": {"mask_id": "90", "block_size": "4"},
}

// TestExperts compares the rows of networks with experts with those of the authors' code: of whole
// canvases, and in recorded runs, in which each call computes one block beside the kept rows of the
// finished ones.
func TestExperts(t *testing.T) {
	t.Parallel()
	for name, facts := range expertFolders {
		dir := reftest.Reference(t, "moe", name)
		net := keeper(t, dir, Options{Dtype: graph.Float32, Override: facts})
		f := reftest.Must(checkpoint.OpenFile(filepath.Join(dir, "moe-golden.safetensors")))(t)
		defer f.Close()
		worst, compared := 0.0, 0
		compare := func(got, want []float32) { worst, compared = max(worst, apart(got, want)), compared+1 }
		for n := range 5 {
			ids, want := tensor(t, f, checkpoint.Tensor.Int64s, "input_ids.%d", n), tensor(t, f, checkpoint.Tensor.Float32s, "logits.%d", n)
			x, _ := f.Tensor(fmt.Sprintf("input_ids.%d", n))
			for i := range x.Shape[0] {
				from, to := i*x.Shape[1], (i+1)*x.Shape[1]
				compare(rowsOf(t, net, ids[from:to], everywhere(to-from)...), want[from*net.facts.Columns:to*net.facts.Columns])
			}
		}
		for _, run := range []string{"threshold", "quota"} {
			ids, want := tensor(t, f, checkpoint.Tensor.Int64s, "%s.call_ids", run), tensor(t, f, checkpoint.Tensor.Float32s, "%s.call_logits", run)
			canvas, size := tensor(t, f, checkpoint.Tensor.Int64s, "%s.tokens", run), net.facts.BlockSize
			ends := tensor(t, f, checkpoint.Tensor.Int64s, "%s.call_end", run)
			var clean samplers.Kept
			if ends != nil {
				// Rows see no later block, so those of the whole answer are kept at once.
				clean = net.Keep(len(canvas))
				call := samplers.Call{IDs: canvas, Positions: []int64{0}, Counts: []int{1}, Kept: []samplers.Kept{clean}}
				reftest.Must(net.Logits(t.Context(), call))(t)
			}
			for i, end := range ends {
				block := everywhere(len(canvas))[int(end)-size : end]
				call := samplers.Call{IDs: slices.Clone(canvas), Positions: block, Counts: []int{size}, Compute: block, Kept: []samplers.Kept{clean.Clone()}}
				copy(call.IDs[int(end)-size:], ids[i*size:(i+1)*size])
				compare(reftest.Must(net.Logits(t.Context(), call))(t), want[i*size*net.facts.Columns:(i+1)*size*net.facts.Columns])
			}
		}
		if t.Logf("%s: %d calls differ by at most %.2g", name, compared, worst); !(worst <= keptLimit) {
			t.Errorf("%s: rows differ by %g", name, worst)
		}
	}
}
