package model

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/samplers"
)

var nemotrons = []string{"nemotron/nemotron", "nemotron/nemotron-plain"}

// nemotron opens a network with two laws and the outputs of another program for it.
func nemotron(t *testing.T, name string) (heads, *checkpoint.File) {
	t.Helper()
	dir := reftest.Checkpoint(t, name)
	f := reftest.Must(checkpoint.OpenFile(filepath.Join(dir, "nemotron-golden.safetensors")))(t)
	t.Cleanup(func() { f.Close() })
	return keeper(t, dir, Options{Dtype: graph.Float32}), f
}

// TestNemotronRows compares rows of blocks, causal rows and causal likelihoods, without kept rows and
// with those of a causal pass.
func TestNemotronRows(t *testing.T) {
	t.Parallel()
	for _, name := range nemotrons {
		net, f := nemotron(t, name)
		worst, blocks, texts := 0.0, 0, 0
		for ; ; blocks++ {
			ids := tensor(t, f, checkpoint.Tensor.Int64s, "input_ids.%d", blocks)
			if ids == nil {
				break
			}
			from := int(tensor(t, f, checkpoint.Tensor.Int64s, "context.%d", blocks)[0])
			want := tensor(t, f, checkpoint.Tensor.Float32s, "logits.%d", blocks)
			places := everywhere(len(ids))[from:]
			call := samplers.Call{IDs: ids, Positions: places, Counts: []int{len(places)}, Blocks: []samplers.Span{{From: from, To: len(ids)}}}
			worst = max(worst, apart(reftest.Must(net.Logits(t.Context(), call))(t), want))
			if from == 0 {
				continue
			}
			kept := call
			kept.Kept, kept.Blocks = []samplers.Kept{net.Keep(len(ids))}, []samplers.Span{{From: from, To: from}}
			reftest.Must(net.Logits(t.Context(), kept))(t)
			call.Kept, call.Compute = kept.Kept, places
			worst = max(worst, apart(reftest.Must(net.Logits(t.Context(), call))(t), want))
		}
		for ; ; texts++ {
			ids := tensor(t, f, checkpoint.Tensor.Int64s, "causal_ids.%d", texts)
			if ids == nil {
				break
			}
			columns := net.facts.Columns
			call := samplers.Call{IDs: ids, Positions: everywhere(len(ids)), Counts: []int{len(ids)}, Blocks: []samplers.Span{{From: len(ids), To: len(ids)}}}
			rows := slices.Clone(reftest.Must(net.Logits(t.Context(), call))(t))
			worst = max(worst, apart(rows, tensor(t, f, checkpoint.Tensor.Float32s, "causal_logits.%d", texts)))
			if len(ids) == 1 {
				continue // Nothing is predicted.
			}
			nll, want := 0.0, tensor(t, f, checkpoint.Tensor.Float64s, "causal_nll.%d", texts)[0]
			for i := range ids[1:] {
				sum := 0.0
				for _, x := range rows[i*columns : (i+1)*columns] {
					sum += math.Exp(float64(x))
				}
				nll += math.Log(sum) - float64(rows[i*columns+int(ids[i+1])])
			}
			if math.Abs(nll-want) > 1e-4*float64(len(ids)) {
				t.Errorf("%s: −log P of text %d is %v, want %v", name, texts, nll, want)
			}
		}
		if !(worst <= keptLimit) || blocks == 0 || texts == 0 {
			t.Errorf("%s: rows of %d blocks and %d texts differ by %g", name, blocks, texts, worst)
		}
		t.Logf("%s: rows differ by at most %.2g", name, worst)
	}
}

// TestNemotronRuns repeats recorded runs. A call computes one block, after a causal pass over what was
// filled since.
func TestNemotronRuns(t *testing.T) {
	t.Parallel()
	for _, name := range nemotrons {
		net, f := nemotron(t, name)
		size := reftest.Must(strconv.Atoi(f.Metadata["block_size"]))(t)
		for _, run := range []string{"threshold", "one"} {
			tokens := tensor(t, f, checkpoint.Tensor.Int64s, "%s.tokens", run)
			ids := tensor(t, f, checkpoint.Tensor.Int64s, "%s.call_ids", run)
			want := tensor(t, f, checkpoint.Tensor.Float32s, "%s.call_logits", run)
			starts := tensor(t, f, checkpoint.Tensor.Int64s, "%s.call_context", run)
			canvas := slices.Clone(tokens)
			for len(canvas) < int(slices.Max(starts))+size {
				canvas = append(canvas, int64(net.facts.MaskID))
			}
			call := samplers.Call{IDs: canvas, Counts: []int{size}, Kept: []samplers.Kept{net.Keep(len(canvas))}}
			worst, before := 0.0, -1
			for i, start := range starts {
				from := int(start)
				copy(canvas[from:], ids[i*size:(i+1)*size])
				if call.Compute = everywhere(len(canvas))[max(before, 0):from]; from != before {
					if before < 0 {
						call.Compute = nil
					} else {
						copy(canvas, tokens[:from])
					}
					call.Positions, call.Counts, call.Blocks = []int64{int64(from - 1)}, []int{1}, []samplers.Span{{From: from, To: from}}
					reftest.Must(net.Logits(t.Context(), call))(t)
				}
				before, call.Compute = from, everywhere(len(canvas))[from:from+size]
				call.Positions, call.Counts, call.Blocks = call.Compute, []int{size}, []samplers.Span{{From: from, To: from + size}}
				rows := reftest.Must(net.Logits(t.Context(), call))(t)
				worst = max(worst, apart(rows, want[i*len(rows):(i+1)*len(rows)]))
			}
			if !(worst <= keptLimit) {
				t.Errorf("%s, %s: rows differ by %g", name, run, worst)
			}
			t.Logf("%s, %s: %d calls, rows differ by at most %.2g", name, run, len(starts), worst)
		}
	}
}
