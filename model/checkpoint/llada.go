package checkpoint

import (
	"errors"

	"mdmgen/internal/plainjson"
	"mdmgen/model/facts"
)

var lladaFamily = Family{
	Name:      "llada",
	Models:    "LLaDA 8B Base, Instruct and 1.5 (Nie et al. 2025, arXiv 2502.09992)",
	Checked:   "outputs of a public implementation on small random checkpoints: two shards with a padded vocabulary, and grouped queries in BF16",
	Network:   Gated,
	classes:   []string{"LLaDAModelLM", "LLaDAModel"},
	parse:     parseLLaDA,
	embedding: "transformer.wte.weight", parts: []string{"transformer"},
	names: Names{
		Embedding: "transformer.wte", Block: "transformer.blocks.%d.",
		AttentionNorm: "attn_norm", MLPNorm: "ff_norm",
		Queries: "q_proj", Keys: "k_proj", Values: "v_proj", AttentionOut: "attn_out",
		// The MLP's last layer and the network's have one name at two depths.
		Gate: "ff_proj", Up: "up_proj", Down: "ff_out",
		FinalNorm: "transformer.ln_f", Head: "transformer.ff_out",
	},
}

// parseLLaDA reads LLaDA's config.json, which has the keys of OLMo's. Its class has defaults of
// another network for most of them.
func parseLLaDA(p probe) (Config, error) {
	var f struct {
		DModel            *int     `json:"d_model"`
		NLayers           *int     `json:"n_layers"`
		NHeads            *int     `json:"n_heads"`
		NKVHeads          *int     `json:"n_kv_heads"`
		MLPHiddenSize     *int     `json:"mlp_hidden_size"`
		MaxSequenceLength *int     `json:"max_sequence_length"`
		VocabSize         *int     `json:"vocab_size"`
		EmbeddingSize     *int     `json:"embedding_size"`
		MaskTokenID       *int     `json:"mask_token_id"`
		RopeTheta         *float64 `json:"rope_theta"`
		RMSNormEps        *float64 `json:"rms_norm_eps"`
		WeightTying       *bool    `json:"weight_tying"`
		MultiQuery        bool     `json:"multi_query_attention"`
	}
	c := Config{Noise: "loglinear", Epsilon: 1e-5, MaskID: facts.Unknown}
	if err := plainjson.Unmarshal(p.text, &f); err != nil {
		return c, err
	}
	err := need(
		field{"d_model", f.DModel, &c.Hidden}, field{"n_layers", f.NLayers, &c.Blocks}, field{"n_heads", f.NHeads, &c.Heads},
		field{"mlp_hidden_size", f.MLPHiddenSize, &c.Inner}, field{"max_sequence_length", f.MaxSequenceLength, &c.Length},
		field{"vocab_size", f.VocabSize, &c.Tokens})
	if err == nil && (f.RopeTheta == nil || f.WeightTying == nil) {
		err = errors.New("missing: rope_theta, weight_tying, or both")
	}
	if err == nil {
		err = p.pinned(pin{"block_type", `"llama"`, false}, pin{"layer_norm_type", `"rms"`, false}, pin{"activation_type", `"silu"`, false}, pin{"rope", "true", false},
			pin{"alibi", "false", true}, pin{"include_bias", "false", true}, pin{"include_qkv_bias", "false", true},
			pin{"attention_layer_norm", "false", true}, pin{"input_emb_norm", "false", true}, pin{"scale_logits", "false", true})
	}
	if err != nil {
		return c, err
	}
	c.KVHeads = c.Heads
	if f.MultiQuery {
		c.KVHeads = 1
	}
	set(&c.KVHeads, f.NKVHeads)
	set(&c.MaskID, f.MaskTokenID)
	set(&c.Epsilon, f.RMSNormEps)
	c.Columns = c.Tokens
	set(&c.Columns, f.EmbeddingSize)
	c.RotaryBase, c.Tied = *f.RopeTheta, *f.WeightTying
	return c, nil
}

// set takes a value that is there.
func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}
