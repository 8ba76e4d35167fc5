package checkpoint

import (
	"cmp"
	"fmt"

	"mdmgen/model/facts"
)

var modernBERTFamily = Family{
	Name:    "modernbert",
	Models:  "ModernBERT (Warner et al. 2024, arXiv 2412.13663), as μ, and dLLM's ModernBERT-chat",
	Checked: "transformers",
	classes: []string{"ModernBertForMaskedLM"},
	parse:   parseModernBERT,
	decoder: "confidence steps=128 block-length=32 temperature=0", // dLLM's for its chat models
	pins: []pin{{"hidden_activation", `"gelu"`, true}, {"classifier_activation", `"gelu"`, true}, {"norm_bias", "false", true}, {"attention_bias", "false", true},
		{"mlp_bias", "false", true}, {"classifier_bias", "false", true}, {"decoder_bias", "true", true}},
	// Published files have keys of BERT's, which the class does not read.
	ignored: []string{"classifier_pooling", "sparse_pred*", "repad_logits_with_grad", "reference_compile", "layer_norm_eps", "position_embedding_type"},
	naming: naming{
		Network: Modern, embedding: "embeddings.tok_embeddings.weight", parts: []string{"embeddings", "layers", "final_norm", "head", "decoder"},
		names: Names{
			Embedding: "embeddings.tok_embeddings", Block: "layers.%d.",
			AttentionNorm: "attn_norm", MLPNorm: "mlp_norm",
			Queries: "attn.Wqkv", Keys: "attn.Wqkv", Values: "attn.Wqkv", AttentionOut: "attn.Wo",
			Gate: "mlp.Wi", Up: "mlp.Wi", Down: "mlp.Wo",
			FinalNorm: "final_norm", Head: "decoder",
		},
	},
}

// parseModernBERT reads ModernBERT's config.json, in the form of transformers 4 or 5.
func parseModernBERT(p probe) (Config, error) {
	c := Config{Epsilon: 1e-5, RotaryBase: 160000, Tied: true, Noise: "loglinear", MaskID: facts.Unknown}
	s, local := p.root, &c.Local
	s.Need("vocab_size", &c.Columns)
	s.Need("hidden_size", &c.Hidden)
	s.Need("num_hidden_layers", &c.Blocks)
	s.Need("num_attention_heads", &c.Heads)
	s.Need("intermediate_size", &c.Inner)
	s.Need("max_position_embeddings", &c.Length)
	s.May("norm_eps", &c.Epsilon)
	s.May("mask_token_id", &c.MaskID)
	s.May("tie_word_embeddings", &c.Tied)
	c.Tokens = c.Columns
	window, every, types := 128, 3, []string(nil)
	s.May("local_attention", &window)
	s.May("global_attn_every_n_layers", &every)
	s.May("layer_types", &types)
	local.Reach = window / 2
	const full, near = "full_attention", "sliding_attention"
	for i := range min(c.Blocks, maxBlocks) {
		if types == nil {
			local.In[i] = every > 0 && i%every != 0
		} else if i >= len(types) || types[i] != full && types[i] != near {
			return c, fmt.Errorf("layer_types must be a list of %s or %s, for each of %d layers", full, near, c.Blocks)
		} else {
			local.In[i] = types[i] == near
		}
	}
	s.May("global_rope_theta", &c.RotaryBase)
	if local.RotaryBase = 10000; p.null("local_rope_theta") {
		local.RotaryBase = c.RotaryBase
	}
	s.May("local_rope_theta", &local.RotaryBase)
	err := s.Err()
	for kind, base := range map[string]*float64{full: &c.RotaryBase, near: &local.RotaryBase} {
		r := s.In("rope_parameters").In(kind)
		r.May("rope_theta", base)
		err = cmp.Or(err, s.Err(), unstretched(r))
	}
	return c, cmp.Or(err, known(s.In("rope_parameters"), nil))
}

// modernTensors lists the parameters of a [Modern] network.
func modernTensors(c Config) (l layout) {
	n, h := c.Names(), c.Hidden
	l.add(c.Embedding(), c.Columns, h)
	l.add("embeddings.norm.weight", h)
	for i := range c.Blocks {
		if i > 0 {
			l.add(n.At(i, n.AttentionNorm)+".weight", h)
		}
		l.linear(n.At(i, n.Queries), 3*h, h, false)
		l.linear(n.At(i, n.AttentionOut), h, h, false)
		l.add(n.At(i, n.MLPNorm)+".weight", h)
		l.linear(n.At(i, n.Up), 2*c.Inner, h, false)
		l.linear(n.At(i, n.Down), h, c.Inner, false)
	}
	l.add(n.FinalNorm+".weight", h)
	l.linear("head.dense", h, h, false)
	l.add("head.norm.weight", h)
	l.add(n.Head+".bias", c.Columns)
	if !c.Tied {
		l.add(n.Head+".weight", c.Columns, h)
	}
	return l
}
