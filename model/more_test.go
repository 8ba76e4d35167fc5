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

// moreFolders are reference networks with the id of MASK, which only their tokenizers have, and twice
// the difference of the authors' code from a second implementation.
var moreFolders = map[string]struct {
	mask  string
	limit float64
}{"modernbert": {"99", 8.3e-5}, "diffugpt": {"97", 1.05e-5}, "diffullama": {"94", 8.8e-6}}

// another opens one of them, a small network with experts, or another reference network.
func another(t *testing.T, name string, d graph.Dtype) heads {
	t.Helper()
	if checkpointtest.Experts[name] != "" {
		return keeper(t, expertFolder(t, name), Options{Dtype: d})
	}
	if moreFolders[name].mask == "" {
		return keeper(t, reftest.Checkpoint(t, name), Options{Dtype: d})
	}
	return keeper(t, reftest.Reference(t, "more", name), Options{Dtype: d, Override: map[string]string{"mask_id": moreFolders[name].mask}})
}

// TestMore compares rows with those of the authors' code: of whole canvases, of a few positions, and of
// few rows beside kept ones.
func TestMore(t *testing.T) {
	t.Parallel()
	for name, c := range moreFolders {
		net := another(t, name, graph.Float32)
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

// TestBlocksByFact opens Qwen3's network as block-causal, because a fact says so: its rows are those of
// SDAR's network with the same weights, and in one block those of attention both ways.
func TestBlocksByFact(t *testing.T) {
	t.Parallel()
	sdar, dir := reftest.Checkpoint(t, "sdar"), t.TempDir()
	reftest.OK(t, os.CopyFS(dir, os.DirFS(sdar)))
	path := filepath.Join(dir, "config.json")
	text := strings.NewReplacer("SDARForCausalLM", "A2DQwen3LMHeadModel", `"block_size": 4,`, "").Replace(string(reftest.Must(os.ReadFile(path))(t)))
	reftest.OK(t, os.WriteFile(path, []byte(text), 0o600))
	rows := func(dir string, o Options) []float32 {
		net := keeper(t, dir, o)
		ids := []int64{3, 90, 5, 90, 7, 90, 90, 1, 90, 11, 2, 90}
		whole := rowsOf(t, net, ids, everywhere(12)...)
		k := net.Keep(12)
		call := samplers.Call{IDs: ids, Positions: everywhere(12), Counts: []int{12}, Kept: []samplers.Kept{k}}
		reftest.Must(net.Logits(t.Context(), call))(t)
		call.Compute, call.Positions, call.Counts = everywhere(12)[8:], everywhere(12)[8:], []int{4}
		return append(whole, reftest.Must(net.Logits(t.Context(), call))(t)...)
	}
	blocks := func(n string) Options { return Options{Override: map[string]string{"block_size": n}} }
	want, both := rows(sdar, Options{}), rows(dir, Options{})
	for how, got := range map[string][]float32{"a fact": rows(dir, blocks("4")), "a known fact": rows(dir, Options{Known: map[string]string{"block_size": "4"}})} {
		if !slices.Equal(got, want) {
			t.Errorf("by %s rows differ by %g from SDAR's", how, apart(got, want))
		}
	}
	if one := rows(dir, blocks("96")); !(apart(one, both) <= keptLimit) || !(apart(want, both) > 0.1) {
		t.Errorf("one block differs from attention both ways by %g, and three by %g", apart(one, both), apart(want, both))
	}
	reftest.Fails(t, reftest.Err(Open(t.Context(), reftest.Data(t, "reference", "checkpoints", "dream-tied-fp16"), blocks("4"))), "block_size is 4, but the network has 0")
}
