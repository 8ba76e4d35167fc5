package checkpoint

import "mdmgen/model/facts"

// lladaDecoder reveals one position a call in answers of up to 1,024, the length that LLaDA was tested with.
const lladaDecoder = "confidence steps=1024 block-length=32 temperature=0"

var lladaFamily = Family{
	Name:    "llada",
	Models:  "LLaDA 8B Base, Instruct and 1.5 (Nie et al. 2025, arXiv 2502.09992)",
	Checked: "a public implementation: two shards with a padded vocabulary, and grouped queries in BF16",
	classes: []string{"LLaDAModelLM", "LLaDAModel"},
	parse:   parseLLaDA,
	decoder: lladaDecoder,
	pins: []pin{{"block_type", `"llama"`, false}, {"layer_norm_type", `"rms"`, false}, {"activation_type", `"silu"`, false}, {"rope", "true", false},
		{"alibi", "false", true}, {"include_bias", "false", true}, {"bias_for_layer_norm", "false", true}, {"layer_norm_with_affine", "true", true},
		{"attention_layer_norm", "false", true}, {"input_emb_norm", "false", true}, {"scale_logits", "false", true}, {"block_group_size", "1", true}},
	ignored: []string{"alibi_bias_max", "attention_layer_norm_with_affine", "precision", "rope_full_precision"},
	naming: naming{
		Network: Gated, embedding: "transformer.wte.weight", parts: []string{"transformer"},
		names: Names{
			Embedding: "transformer.wte", Block: "transformer.blocks.%d.",
			AttentionNorm: "attn_norm", MLPNorm: "ff_norm",
			Queries: "q_proj", Keys: "k_proj", Values: "v_proj", AttentionOut: "attn_out",
			// The MLP's last layer and the network's have the same name at two depths.
			Gate: "ff_proj", Up: "up_proj", Down: "ff_out",
			FinalNorm: "transformer.ln_f", Head: "transformer.ff_out",
		},
	},
}

// parseLLaDA reads LLaDA's config.json, which has the keys of OLMo's. Most defaults of its class
// are those of another network.
func parseLLaDA(p probe) (Config, error) {
	c := Config{Noise: "loglinear", Epsilon: 1e-5, MaskID: facts.Unknown}
	s := p.root
	s.Need("d_model", &c.Hidden)
	s.Need("n_layers", &c.Blocks)
	s.Need("n_heads", &c.Heads)
	ratio := 4
	s.May("mlp_ratio", &ratio)
	if p.null("mlp_hidden_size") {
		c.Inner = min(ratio, maxWidth) * c.Hidden
	} else {
		s.Need("mlp_hidden_size", &c.Inner)
	}
	s.May("include_qkv_bias", &c.QKVBias)
	s.Need("max_sequence_length", &c.Length)
	s.Need("vocab_size", &c.Tokens)
	s.Need("rope_theta", &c.RotaryBase)
	s.Need("weight_tying", &c.Tied)
	s.May("mask_token_id", &c.MaskID)
	s.May("rms_norm_eps", &c.Epsilon)
	c.Columns = c.Tokens
	s.May("embedding_size", &c.Columns)
	c.KVHeads = c.Heads
	var one bool
	if s.May("multi_query_attention", &one); one {
		c.KVHeads = 1
	}
	s.May("n_kv_heads", &c.KVHeads)
	return c, s.Err()
}
