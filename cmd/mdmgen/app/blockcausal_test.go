package app

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"

	"mdmgen/internal/reftest"
)

// TestBlockCausalCommands runs what checks and scores a block-causal network: its rows are those of the
// public code, and −log P, exactly, is below the exact NELBO, which the estimate agrees with.
func TestBlockCausalCommands(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	for name, facts := range map[string][]string{"sdar-moe": nil, "llada2-plain": {"--set", "fact=mask_id=90", "--set", "fact=block_size=4"}} {
		dir := reftest.Reference(t, "moe", name)
		if facts == nil { // The other's file holds runs, too.
			mustRun(t, "", "verify", dir, "--golden", filepath.Join(dir, "moe-golden.safetensors"))
		}
		score := func(more ...string) (windows []struct {
			Nats  struct{ Mean, SE float64 }
			Exact struct{ NELBO float64 }
		}) {
			var r struct{ Windows any }
			r.Windows = &windows
			text := `{"ids":[1,2,3,4,5,6,7,8,9]}` + "\n" + `{"ids":[5,6]}` + "\n"
			args := append([]string{"score", "--model", dir, "--as", "jsonl", "--format", "json"}, more...)
			reftest.OK(t, json.Unmarshal([]byte(mustRun(t, text, append(args, facts...)...)), &r))
			return windows
		}
		exact, estimated := score("--exact"), score("--seed", "1", "--draws", "128")
		for i, x := range exact {
			bound := estimated[i].Nats
			if nelbo := x.Exact.NELBO; !(x.Nats.Mean < nelbo) || !(bound.Mean-nelbo < 4*bound.SE && nelbo-bound.Mean < 4*bound.SE) {
				t.Errorf("%s: −log P is %v, the NELBO %v, estimated as %v", name, x.Nats.Mean, nelbo, bound)
			}
		}
		if len(exact) != 2 {
			t.Errorf("%s: %d windows", name, len(exact))
		}
	}
}

// TestKeep checks that samples and lines that begin alike compute their beginning once, with the same ids,
// and that a batch is as good as a sample at a time.
func TestKeep(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	lines := `{"ids":[5,6,7,8,9,10,11,12,13,14,15,16,17,null,null,null,null,null,null]}` + "\n" + `{"ids":[5,6,7,8,9,10,11,12,13,14,15,16,18,19,20,21,22,null,null]}` + "\n"
	run := func(batch, keep string) (ids any, perToken float64) {
		var r struct {
			Samples []struct{ IDs []int }
			Totals  struct {
				Cache struct {
					PositionsPerToken float64 `json:"positions_per_token"`
				}
			}
		}
		out := mustRun(t, lines, "generate", "--model", reftest.Reference(t, "checkpoints", "bd3lm"), "--set", "fact=mask_id=88", "--input", "-", "-n", "4", "--seed", "1", "--format", "json", "--batch", batch, "--keep", keep)
		reftest.OK(t, json.Unmarshal([]byte(out), &r))
		return r.Samples, r.Totals.Cache.PositionsPerToken
	}
	want, all := run("8", "0")
	for _, batch := range []string{"1", "8"} {
		// All 24 + 8 tokens but those of twelve positions, once for all, are computed in blocks of four.
		if ids, perToken := run(batch, "1MB"); !reflect.DeepEqual(ids, want) || perToken > all-7*12./32 {
			t.Errorf("batch %s: %v positions a token and %v, without shared ones %v and %v", batch, perToken, ids, all, want)
		}
	}
}
