package model

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"mdmgen/internal/checkpointtest"
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
	"sdar-moe":     {},
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

// expertFolder writes a small network with experts.
func expertFolder(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	reftest.OK(t, os.CopyFS(dir, checkpointtest.ExpertFolder(name)))
	return dir
}

// inFourBits returns a checkpoint whose matrices are those of another in 4 bits: in steps of 16 weights,
// of experts and of the table 32, of which the one of greatest magnitude is −8 steps, and the others at
// most 7.
func inFourBits(t *testing.T, files fstest.MapFS) fstest.MapFS {
	t.Helper()
	c := reftest.Must(checkpoint.OpenFS(files, "memory"))(t)
	defer c.Close()
	var tensors []checkpoint.Tensor
	for s := range c.Config.Tensors() {
		v := reftest.Must(c.Tensor(s.Name).Float32s())(t)
		size := 16
		if strings.Contains(s.Name, ".experts.") || s.Name == c.Config.Embedding() {
			size = 32
		}
		for block := range slices.Chunk(v, size) {
			if len(s.Shape) < 2 || strings.HasSuffix(s.Name, "mlp.gate.weight") {
				break
			}
			top := slices.MaxFunc(block, func(a, b float32) int { return cmp.Compare(math.Abs(float64(a)), math.Abs(float64(b))) })
			for i, x := range block {
				block[i] = float32(min(math.RoundToEven(float64(x)*-8/float64(top)), 7)) * (top / -8)
			}
		}
		tensors = append(tensors, checkpointtest.Tensor("model."+s.Name, checkpoint.F32, v, s.Shape...))
	}
	return fstest.MapFS{"config.json": files["config.json"], "model.safetensors": {Data: checkpointtest.Encode(nil, tensors...)}}
}

// TestExpertsInFourBits converts networks whose weights are such that 4 bits hold them: rows are those of
// float32, up to its rounding, without quantised rows, and about as close as 8 bits allow with them.
func TestExpertsInFourBits(t *testing.T) {
	t.Parallel()
	for name := range checkpointtest.Experts {
		files := checkpointtest.ExpertFolder(name)
		dir, rounded := t.TempDir(), t.TempDir()
		reftest.OK(t, os.CopyFS(dir, files))
		reftest.OK(t, os.CopyFS(rounded, inFourBits(t, files)))
		ids := make([]int64, 24)
		for i := range ids {
			ids[i] = int64(47 - i%2*(i*5%47+1))
		}
		rows := func(dir string, d graph.Dtype) []float32 {
			return rowsOf(t, keeper(t, dir, Options{Dtype: d}), ids, everywhere(len(ids))...)
		}
		want := rows(rounded, graph.Float32)
		exact, quick := apart(rows(rounded, graph.Int4Exact), want), apart(rows(rounded, graph.Int4), want)
		t.Logf("%s: rows differ by %.2g, with quantised rows by %.2g, from those of the weights before by %.2g", name, exact, quick, apart(rows(dir, graph.Float32), want))
		if !(exact <= 1e-4) || !(quick <= 0.5) || quick < 1e-3 {
			t.Errorf("%s: rows differ by %g, with quantised rows by %g", name, exact, quick)
		}
	}
}
