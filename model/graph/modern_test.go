package graph

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
)

// TestReach checks that a position of a local layer depends on those at most half of local_attention
// away, and on no other, in each layer.
func TestReach(t *testing.T) {
	const length = 16
	for _, c := range []struct {
		kinds, window string
		options       Options
		reach         int
	}{
		{`"sliding_attention"`, "6", Options{}, 3},
		{`"sliding_attention"`, "7", Options{Dtype: Float16, GPU: true}, 3},
		{`"sliding_attention","sliding_attention"`, "5", Options{}, 4},
		{`"sliding_attention"`, "128", Options{}, 15},
		{`"sliding_attention","full_attention"`, "1", Options{}, 15},
	} {
		network := random(t, `{"architectures":["ModernBertForMaskedLM"],"vocab_size":30,"hidden_size":16,"num_attention_heads":2,"intermediate_size":12,"max_position_embeddings":16,"mask_token_id":29,
			"num_hidden_layers":`+strconv.Itoa(strings.Count(c.kinds, "_"))+`,"layer_types":[`+c.kinds+`],"local_attention":`+c.window+`}`)
		all := call{rows: length, ids: make([]int64, length*length), positions: make([]int64, length)}
		for l := range length {
			all.ids[l*length+l] = 7 // Position 0 differs in no other canvas.
		}
		all.ids[0] = 0
		rows := all.run(t, built(t, network, c.options))
		columns := len(rows) / length
		for l := 1; l < length; l++ {
			if d := distance(t, rows[l*columns:(l+1)*columns], rows[:columns]); (d > 0) != (l <= c.reach) {
				t.Errorf("%s of %s, %+v: position %d moves the row of position 0 by %g", c.kinds, c.window, c.options, l, d)
			}
		}
	}
}

// TestMatricesOnDisk checks that ModernBERT's weights can be used where they are, in parts of matrices,
// and that those of GPT-2's network, which are stored as inputs by outputs, cannot.
func TestMatricesOnDisk(t *testing.T) {
	t.Parallel()
	for config, prefix := range map[string]string{
		`{"architectures":["ModernBertForMaskedLM"],"vocab_size":64,"hidden_size":32,"num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":48,"max_position_embeddings":16,"mask_token_id":29}`: "model.",
		`{"architectures":["GPT2LMHeadModel"],"vocab_size":64,"n_embd":32,"n_layer":2,"n_head":2,"n_positions":16,"mask_token_id":29}`:                                                                      "denoise_model.",
	} {
		dir := t.TempDir()
		reftest.OK(t, os.CopyFS(dir, checkpointtest.Folder(config, prefix, checkpoint.F32, 5)))
		c := opened(t, dir)
		if CanRefer(c) != (prefix == "model.") {
			t.Errorf("%s: can be referred to: %t", c.Config.Family, CanRefer(c))
		}
		one := call{rows: 2, ids: []int64{1, 29, 3, 29, 5, 29, 29, 8}, positions: everywhere(2, 4)}
		if d := distance(t, one.run(t, built(t, c, Options{})), one.run(t, built(t, c, Options{inPlace: 1}))); d > goldenLimit {
			t.Errorf("%s: in place rows differ by %g", c.Config.Family, d)
		}
	}
}
