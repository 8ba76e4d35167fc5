package checkpoint

import (
	"fmt"

	"mdmgen/internal/plainjson"
	"mdmgen/model/facts"
)

var lladaFamily = Family{
	Name:    "llada",
	Models:  "LLaDA 8B Base, Instruct and 1.5 (Nie et al. 2025, arXiv 2502.09992)",
	Checked: "outputs of a public implementation on small random checkpoints: two shards with a padded vocabulary, and grouped queries in BF16",
	Network: Gated, rotary: true,
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
func parseLLaDA(text []byte, _ string) (Config, error) {
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
		Rope              *bool    `json:"rope"`
		BlockType         *string  `json:"block_type"`
		LayerNormType     *string  `json:"layer_norm_type"`
		ActivationType    *string  `json:"activation_type"`

		Alibi              bool `json:"alibi"`
		IncludeBias        bool `json:"include_bias"`
		IncludeQKVBias     bool `json:"include_qkv_bias"`
		AttentionLayerNorm bool `json:"attention_layer_norm"`
		InputEmbNorm       bool `json:"input_emb_norm"`
		ScaleLogits        bool `json:"scale_logits"`
		MultiQuery         bool `json:"multi_query_attention"`
	}
	c := Config{Noise: "loglinear", Epsilon: 1e-5, MaskID: facts.Unknown}
	if err := plainjson.Unmarshal(text, &f); err != nil {
		return c, err
	}
	err := need(
		field{"d_model", f.DModel, &c.Hidden}, field{"n_layers", f.NLayers, &c.Blocks}, field{"n_heads", f.NHeads, &c.Heads},
		field{"mlp_hidden_size", f.MLPHiddenSize, &c.Inner}, field{"max_sequence_length", f.MaxSequenceLength, &c.Length},
		field{"vocab_size", f.VocabSize, &c.Tokens})
	for _, k := range []struct {
		name   string
		absent bool
	}{{"rope_theta", f.RopeTheta == nil}, {"weight_tying", f.WeightTying == nil}, {"rope", f.Rope == nil}, {"block_type", f.BlockType == nil},
		{"layer_norm_type", f.LayerNormType == nil}, {"activation_type", f.ActivationType == nil}} {
		if k.absent && err == nil {
			err = fmt.Errorf("missing: %s", k.name)
		}
	}
	if err != nil {
		return c, err
	}
	for _, k := range []struct {
		name, has, want string
	}{{"block_type", *f.BlockType, "llama"}, {"layer_norm_type", *f.LayerNormType, "rms"}, {"activation_type", *f.ActivationType, "silu"}} {
		if k.has != k.want {
			return c, fmt.Errorf("%s is %.40q: only %s is read", k.name, k.has, k.want)
		}
	}
	for _, k := range []struct {
		name string
		has  bool
		want bool
	}{{"rope", *f.Rope, true}, {"alibi", f.Alibi, false}, {"include_bias", f.IncludeBias, false}, {"include_qkv_bias", f.IncludeQKVBias, false},
		{"attention_layer_norm", f.AttentionLayerNorm, false}, {"input_emb_norm", f.InputEmbNorm, false}, {"scale_logits", f.ScaleLogits, false}} {
		if k.has != k.want {
			return c, fmt.Errorf("%s is %t: only %t is read", k.name, k.has, k.want)
		}
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
