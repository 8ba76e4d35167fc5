package checkpoint_test

import (
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
)

// TestTiedCopies opens files with a second copy of a tied parameter if both are the same, whatever
// their types. If they differ, other tools use the copy, and nobody can tell which is meant.
func TestTiedCopies(t *testing.T) {
	const (
		dream = `{"architectures":["DreamModel"],"hidden_size":4,"num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":1,"intermediate_size":3,` +
			`"max_position_embeddings":8,"vocab_size":6,"mask_token_id":5,"rope_theta":10000.0,"tie_word_embeddings":true}`
		llada = `{"architectures":["LLaDAModelLM"],"d_model":4,"n_layers":1,"n_heads":2,"mlp_hidden_size":3,"max_sequence_length":8,"vocab_size":6,"mask_token_id":5,` +
			`"rope_theta":10000.0,"weight_tying":true,"block_type":"llama","layer_norm_type":"rms","activation_type":"silu","rope":true}`
		bert = `{"architectures":["BertForMaskedLM"],"hidden_size":4,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":3,` +
			`"max_position_embeddings":8,"vocab_size":6,"mask_token_id":5}`
	)
	for _, c := range []struct{ config, of, stored string }{
		{dream, "embed_tokens.weight", "lm_head.weight"}, {llada, "transformer.wte.weight", "model.transformer.ff_out.weight"},
		{bert, "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"}, {bert, "cls.predictions.bias", "cls.predictions.decoder.bias"},
	} {
		fsys := checkpointtest.Folder(c.config, "", checkpoint.F32, 1)
		ck := reftest.Must(checkpoint.OpenFS(fsys, "alone"))(t)
		var tensors []checkpoint.Tensor
		for s := range ck.Config.Tensors() {
			x := ck.Tensor(s.Name)
			if s.Name == c.of { // Numbers that every type represents exactly.
				v := make([]float32, x.Len())
				for i := range v {
					v[i] = float32(i%16) / 4
				}
				x = checkpointtest.Tensor(c.of, checkpoint.F32, v, s.Shape...)
			}
			tensors = append(tensors, x)
		}
		i := slices.IndexFunc(tensors, func(x checkpoint.Tensor) bool { return x.Name == c.of })
		same := reftest.Must(tensors[i].Float32s())(t)
		other := slices.Clone(same)
		other[len(other)-1]++
		shape := tensors[i].Shape
		// Writers that keep one of two equal tensors may keep either.
		alone := slices.Concat(tensors[:i], tensors[i+1:], []checkpoint.Tensor{checkpointtest.Tensor(c.stored, checkpoint.F32, same, shape...)})
		fsys["model.safetensors"].Data = checkpointtest.Encode(nil, alone...)
		if got := reftest.Must(reftest.Must(checkpoint.OpenFS(fsys, "one"))(t).Tensor(c.of).Float32s())(t); !slices.Equal(got, same) {
			t.Errorf("%s alone is not %s", c.stored, c.of)
		}
		for _, stored := range []struct {
			tensor checkpoint.Tensor
			fits   bool
		}{
			{checkpointtest.Tensor(c.stored, checkpoint.F32, same, shape...), true},
			{checkpointtest.Tensor(c.stored, checkpoint.BF16, same, shape...), true},
			{checkpointtest.Tensor(c.stored, checkpoint.F32, other, shape...), false},
			{checkpointtest.Tensor(c.stored, checkpoint.F32, same, append([]int{1}, shape...)...), false},
		} {
			fsys["model.safetensors"].Data = checkpointtest.Encode(nil, append(slices.Clone(tensors), stored.tensor)...)
			ck, err := checkpoint.OpenFS(fsys, "copy")
			if err == nil {
				_, err = ck.Digest(t.Context())
			}
			if (err == nil) != stored.fits || err != nil && (!strings.Contains(err.Error(), c.stored) || !strings.Contains(err.Error(), c.of)) {
				t.Errorf("%s, %s %v: %v, fits %t", c.stored, stored.tensor.Dtype, stored.tensor.Shape, err, stored.fits)
			}
		}
	}
}
