package checkpoint_test

import (
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
)

// TestDiffu opens networks under the classes of causal language models by the names of their tensors,
// and refuses those without. If one of two tied tensors is missing and the file says so, the network is
// tied whatever its config says.
func TestDiffu(t *testing.T) {
	t.Parallel()
	const (
		gpt   = `{"architectures":["GPT2LMHeadModel"],"n_positions":8,"n_embd":4,"n_layer":1,"n_head":2,"n_inner":null,"vocab_size":6,"mask_token_id":5,"activation_function":"gelu_new"}`
		llama = `{"architectures":["LlamaForCausalLM"],"hidden_size":4,"num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":1,"intermediate_size":3,"max_position_embeddings":8,"vocab_size":6,"mask_token_id":5}`
	)
	const head = "lm_head.weight"
	for _, config := range []string{gpt, llama} {
		class := strings.Split(config, `"`)[3]
		reftest.Fails(t, reftest.Err(checkpoint.OpenFS(checkpointtest.Folder(config, "model.", checkpoint.F32, 1), "causal")), class+": a causal language model: its rows see no later token")
		files := checkpointtest.Folder(config, "denoise_model.", checkpoint.F32, 1)
		c := reftest.Must(checkpoint.OpenFS(files, "diffu"))(t)
		if f := c.Undigested(); !f.Shift || f.Columns != 6 || c.Config.RotaryBase != 0 && c.Config.RotaryBase != 10000 {
			t.Errorf("%s: facts are %+v", class, f)
		}
		var tensors []checkpoint.Tensor
		for _, e := range c.Entries() {
			if e.Parameter != head {
				tensors = append(tensors, e.Tensor)
			}
		}
		untied := strings.Replace(config, "{", `{"tie_word_embeddings":false,`, 1)
		files["config.json"].Data = []byte(untied)
		files["model.safetensors"].Data = checkpointtest.Encode(nil, tensors...)
		reftest.Fails(t, reftest.Err(checkpoint.OpenFS(files, "diffu")), "missing: "+head)
		files["model.safetensors"].Data = checkpointtest.Encode(map[string]string{head: "embed_tokens.weight"}, tensors...)
		tied := reftest.Must(checkpoint.OpenFS(files, "diffu"))(t)
		if slices.ContainsFunc(slices.Collect(tied.Config.Tensors()), func(s checkpoint.Spec) bool { return s.Name == head }) {
			t.Errorf("%s: the network has a head of its own", class)
		}
	}
	reftest.Fails(t, reftest.Err(checkpoint.ParseConfig([]byte(strings.Replace(llama, "{", `{"rope_scaling":{"rope_type":"llama3"},`, 1)))), "LlamaForCausalLM: a causal language model: its rows see no later token, unless it is from diffullama: rotary positions")
	if c := reftest.Must(checkpoint.OpenFS(checkpointtest.Folder(gpt, "denoise_model.", checkpoint.F32, 1), "across"))(t); !slices.Equal(c.Tensor("h.0.mlp.c_fc.weight").Shape, []int{4, 16}) || !c.Tensor("h.0.mlp.c_fc.weight").Across || c.Tensor("wpe.weight").Across {
		t.Error("matrices are not stored as inputs by outputs")
	}
}
