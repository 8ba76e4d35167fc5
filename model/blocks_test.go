package model

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/samplers"
)

// blockGolden opens the outputs of the authors' code for a block-causal network.
func blockGolden(t *testing.T, name string) *checkpoint.File {
	t.Helper()
	files := reftest.Must(filepath.Glob(filepath.Join(reftest.Checkpoint(t, name), "*-golden.safetensors")))(t)
	f := reftest.Must(checkpoint.OpenFile(files[0]))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

// blockFamilies are the reference networks that are block-causal, with the recorded runs whose
// calls compute one block.
var blockFamilies = []struct {
	name string
	runs []string
}{
	{"bd3lm", []string{"sample"}}, {"bd3lm-block8", []string{"sample"}}, {"bd3lm-noadaln", []string{"sample"}},
	{"sdar", []string{"static", "dynamic", "sequential"}}, {"fast-dllm-v2", []string{"plain"}},
	{"moe/sdar-moe", nil},
}

// blockNet opens a network of blockFamilies.
func blockNet(t *testing.T, name string) heads {
	t.Helper()
	o := Options{Dtype: graph.Float32}
	if name == "fast-dllm-v2" {
		o.Override = map[string]string{"mask_id": "80"} // only its authors' code has it
	}
	return keeper(t, reftest.Checkpoint(t, name), o)
}

// blockFolder writes a small network of a class, with more keys of its config.
func blockFolder(t *testing.T, class, keys string) string {
	t.Helper()
	dir := t.TempDir()
	config := fmt.Sprintf(`{"architectures":[%q],"hidden_dim":8,"cond_dim":4,"n_blocks":2,"n_heads":2,"model_length":6,"vocab_size":7%s}`, class, keys)
	reftest.OK(t, os.CopyFS(dir, checkpointtest.Folder(config, "backbone.", checkpoint.F32, 1)))
	return dir
}

// rowsOf returns some rows of a canvas, all of which are computed.
func rowsOf(t *testing.T, net heads, ids []int64, positions ...int64) []float32 {
	t.Helper()
	return slices.Clone(reftest.Must(net.Logits(t.Context(), samplers.Call{IDs: ids, Positions: positions, Counts: []int{len(positions)}}))(t))
}

// TestBlockRows compares the rows of all blocks with the pass over a noisy and a clean copy, and
// the rows of a canvas with one pass over it. The canvas has a block's noisy ids after the clean
// ids of all blocks before it, and any ids after them.
func TestBlockRows(t *testing.T) {
	t.Parallel()
	for _, family := range blockFamilies {
		net, f := blockNet(t, family.name), blockGolden(t, family.name)
		size, columns := net.facts.BlockSize, net.facts.Columns
		worst := 0.0
		compare := func(got, want []float32, what string) {
			d := apart(got, want)
			if worst = max(worst, d); !(d <= keptLimit) {
				t.Errorf("%s, %s: rows differ by %g", family.name, what, d)
			}
		}
		for _, which := range []string{"input_ids.0", "input_ids.1", "input_ids.2", "input_ids.3", "input_ids.4", "input_ids.5", "canvas.input_ids", "score.input_ids"} {
			ids, ok := f.Tensor(which)
			if !ok {
				continue
			}
			shape := ids.Shape[1]
			all, want := reftest.Must(ids.Int64s())(t), tensor(t, f, checkpoint.Tensor.Float32s, "%s", strings.Replace(which, "input_ids", "logits", 1))
			length := len(want) / columns / ids.Shape[0]
			for text := range ids.Shape[0] {
				noisy := all[text*shape : text*shape+length]
				clean := all[(text+1)*shape-length : (text+1)*shape]
				for from := 0; from < length; from += size {
					canvas := slices.Concat(clean[:from], noisy[from:])
					positions := everywhere(length)[from:min(from+size, length)]
					at := (text*length + from) * columns
					compare(rowsOf(t, net, canvas, positions...), want[at:at+len(positions)*columns], fmt.Sprintf("%s, block at %d", which, from))
				}
			}
		}
		t.Logf("%s: rows differ by at most %.2g", family.name, worst)
	}
}

// TestBlockRuns repeats recorded runs. Each call computes one block, with the kept rows of the
// blocks before.
func TestBlockRuns(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	for _, family := range blockFamilies {
		net, f := blockNet(t, family.name), blockGolden(t, family.name)
		for _, run := range family.runs {
			blockRun(t, net, f, run)
		}
	}
}

func blockRun(t *testing.T, net heads, f *checkpoint.File, run string) {
	size, columns := net.facts.BlockSize, net.facts.Columns
	ids := tensor(t, f, checkpoint.Tensor.Int64s, "%s.call_ids", run)
	starts := tensor(t, f, checkpoint.Tensor.Int64s, "%s.call_start", run)
	want := tensor(t, f, checkpoint.Tensor.Float32s, "%s.call_logits", run)
	canvas := slices.Repeat([]int64{int64(net.facts.MaskID)}, int(slices.Max(starts))+size)
	copy(canvas, tensor(t, f, checkpoint.Tensor.Int64s, "%s.prefill_ids", run))
	call := samplers.Call{IDs: canvas, Positions: []int64{0}, Counts: []int{1}, Kept: []samplers.Kept{net.Keep(len(canvas))}}
	reftest.Must(net.Logits(t.Context(), call))(t)
	worst := 0.0
	for i, from := range starts {
		copy(canvas[from:], ids[i*size:(i+1)*size])
		call.Compute = everywhere(len(canvas))[from : int(from)+size]
		call.Positions, call.Counts = call.Compute, []int{size}
		rows := slices.Clone(reftest.Must(net.Logits(t.Context(), call))(t))
		worst = max(worst, apart(rows, want[i*size*columns:(i+1)*size*columns]), apart(rows, rowsOf(t, net, canvas, call.Positions...)))
	}
	if t.Logf("%s, %s: rows differ by at most %.2g", net.facts.Family, run, worst); !(worst <= keptLimit) {
		t.Errorf("%s, %s: rows with kept ones differ by %g", net.facts.Family, run, worst)
	}
}

// TestBlockSizeGiven opens a network whose config has no size of blocks with a given size, with the
// same result as if the config had it. A network without blocks gets none.
func TestBlockSizeGiven(t *testing.T) {
	t.Parallel()
	given := Options{Override: map[string]string{"block_size": "3"}}
	rows := func(keys string, o Options) []float32 {
		return rowsOf(t, keeper(t, blockFolder(t, "BD3LM", keys), o), []int64{3, 6, 1, 6, 2, 6}, everywhere(6)...)
	}
	want := rows(`,"block_size":3`, Options{})
	for _, dtype := range []graph.Dtype{graph.Float32, ""} {
		given.Dtype = dtype
		if got := rows("", given); !slices.Equal(got, want) {
			t.Errorf("%q: rows are %v, want %v", dtype, got, want)
		}
	}
	reftest.Fails(t, reftest.Err(Open(t.Context(), blockFolder(t, "MDLM", ""), given)), "block_size is 3, but the network has 0")
	given.Dtype = ""
	reftest.Fails(t, reftest.Err(Open(t.Context(), reftest.Law(t, "markov3-exact"), given)), "fixed by its tables")
}

// TestNoisyCopyOfOneBlock compares the rows of a noisy copy in a network of one block with those of
// the canvas alone: nothing is before the block.
func TestNoisyCopyOfOneBlock(t *testing.T) {
	t.Parallel()
	for _, size := range []string{"6", "9"} {
		net := keeper(t, blockFolder(t, "BD3LM", `,"block_size":`+size), Options{Dtype: graph.Float32})
		noisy := []int64{6, 1, 6, 2, 6, 6}
		call := samplers.Call{IDs: []int64{3, 1, 4, 2, 5, 0}, Positions: everywhere(6), Counts: []int{6}, Kept: []samplers.Kept{net.Keep(6)}}
		reftest.Must(net.Logits(t.Context(), call))(t)
		call.IDs, call.Noisy = noisy, true
		rows := slices.Clone(reftest.Must(net.Logits(t.Context(), call))(t))
		if d := apart(rows, rowsOf(t, net, noisy, everywhere(6)...)); !(d <= keptLimit) {
			t.Errorf("blocks of %s: rows differ by %g", size, d)
		}
	}
}

// TestNoisyCopies compares the rows of noisy copies, computed with the kept keys and values of
// clean ones for all blocks together, with the pass over both, and checks that the calls do not
// change what is kept. One after another they have the bits of a call of all.
func TestNoisyCopies(t *testing.T) {
	t.Parallel()
	for _, family := range blockFamilies {
		net, f := blockNet(t, family.name), blockGolden(t, family.name)
		worst, compared := 0.0, 0
		for _, which := range []string{"input_ids.0", "input_ids.1", "input_ids.2", "input_ids.3", "input_ids.5", "score.input_ids"} {
			ids, ok := f.Tensor(which)
			if !ok {
				continue
			}
			all, want := reftest.Must(ids.Int64s())(t), tensor(t, f, checkpoint.Tensor.Float32s, "%s", strings.Replace(which, "input_ids", "logits", 1))
			texts := ids.Shape[0]
			length := len(want) / net.facts.Columns / texts
			if ids.Shape[1] != 2*length {
				continue // one pass over a canvas
			}
			var clean, noisy samplers.Call
			for text := range texts {
				two := all[text*2*length : (text+1)*2*length]
				noisy.IDs, clean.IDs = append(noisy.IDs, two[:length]...), append(clean.IDs, two[length:]...)
				noisy.Positions, noisy.Counts = append(noisy.Positions, everywhere(length)...), append(noisy.Counts, length)
				noisy.Kept = append(noisy.Kept, net.Keep(length))
			}
			clean.Positions, clean.Counts, clean.Kept, noisy.Noisy = noisy.Positions, noisy.Counts, noisy.Kept, true
			reftest.Must(net.Logits(t.Context(), clean))(t)
			before := noisy.Kept[0].Clone().(*kept)
			rows := slices.Clone(reftest.Must(net.Logits(t.Context(), noisy))(t))
			if !slices.Equal(noisy.Kept[0].(*kept).data, before.data) {
				t.Errorf("%s, %s: what is kept has changed", family.name, which)
			}
			net.joint = 0
			apiece := reftest.Must(net.Logits(t.Context(), noisy))(t)
			net.joint = maxJoint
			if d := apart(rows, apiece); d != 0 {
				t.Errorf("%s, %s: one after another rows differ by %g", family.name, which, d)
			}
			worst, compared = max(worst, apart(rows, want)), compared+1
		}
		if t.Logf("%s: rows of %d passes differ by at most %.2g", family.name, compared, worst); !(worst <= keptLimit) || compared == 0 {
			t.Errorf("%s: rows of %d passes differ by %g", family.name, compared, worst)
		}
	}
}
