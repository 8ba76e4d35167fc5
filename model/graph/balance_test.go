package graph

import (
	"bytes"
	"fmt"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
)

// TestUnitsAreBalanced scales a channel between two layers up in the first and down in the second,
// which leaves the network the same: its integers are the same to the bit, by 2^10 or 2^12. Without
// balance they differ.
func TestUnitsAreBalanced(t *testing.T) {
	t.Parallel()
	const qwen = `{"architectures":["A2DQwen2LMHeadModel"],"hidden_size":32,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,` +
		`"intermediate_size":48,"max_position_embeddings":8,"vocab_size":32,"mask_token_id":5,"rope_theta":10000.0}`
	const bert = `{"architectures":["BertForMaskedLM"],"model_type":"bert","hidden_size":32,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":48,` +
		`"max_position_embeddings":8,"vocab_size":32,"type_vocab_size":2,"mask_token_id":5,"hidden_act":"gelu","layer_norm_eps":1e-12}`
	const block = "layers.1."
	for _, c := range []struct {
		config     string
		up, bias   string
		unit       int
		down       string
		columns    []int
		unbalanced string // a layer of the same network whose channels are not
	}{
		{qwen, block + "mlp.up_proj", "", 7, block + "mlp.down_proj", []int{7}, block + "mlp.gate_proj"},
		// Two heads of queries share a head of 8 values.
		{qwen, block + "self_attn.v_proj", block + "self_attn.v_proj.bias", 11, block + "self_attn.o_proj", []int{19, 27}, block + "self_attn.q_proj"},
		{bert, "bert.encoder.layer.1.attention.self.value", "bert.encoder.layer.1.attention.self.value.bias", 11, "bert.encoder.layer.1.attention.output.dense", []int{11}, "bert.encoder.layer.1.intermediate.dense"},
	} {
		written := func(d Dtype, first string, by float32) []byte {
			ck := reftest.Must(checkpoint.OpenFS(checkpointtest.Folder(c.config, "", checkpoint.F32, 1), "units"))(t)
			scale := func(name string, at func(i, cols int) bool, by float32) {
				x := ck.Tensor(name)
				v := make([]float32, x.Len())
				x.Widen(v, 0)
				for i := range v {
					if at(i, x.Shape[len(x.Shape)-1]) {
						v[i] *= by
					}
				}
				copy(x.Data, checkpointtest.Tensor(name, checkpoint.F32, v, x.Shape...).Data)
			}
			scale(first+".weight", func(i, cols int) bool { return i/cols == c.unit }, by)
			if c.bias != "" && first == c.up {
				scale(c.bias, func(i, _ int) bool { return i == c.unit }, by)
			}
			scale(c.down+".weight", func(i, cols int) bool {
				for _, k := range c.columns {
					if i%cols == k {
						return true
					}
				}
				return false
			}, 1/by)
			b, f, err := network(ck, Options{Dtype: d}, true)
			reftest.OK(t, err)
			f.Digest = "sha256:00"
			m := reftest.Must(b.encode(f))(t)
			return reftest.Must(m.Bytes())(t)
		}
		for _, d := range []Dtype{Int8, Int4, Float32} {
			name := fmt.Sprintf("%s as %s", c.up, d)
			if same := bytes.Equal(written(d, c.up, 1<<10), written(d, c.up, 1<<12)); same != (d != Float32) {
				t.Errorf("%s: a unit 4 times as large, by a quarter of its weights: same bytes is %t", name, same)
			}
			if bytes.Equal(written(d, c.unbalanced, 1<<10), written(d, c.unbalanced, 1<<12)) {
				t.Errorf("%s: the same bytes with another layer", name)
			}
		}
	}
}
