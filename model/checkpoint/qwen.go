package checkpoint

import (
	"fmt"
	"strings"

	"mdmgen/internal/plainjson"
	"mdmgen/model/facts"
)

var qwen2Family = Family{
	Name:    "qwen2",
	Models:  "Qwen2's network trained for diffusion: Tiny-A2D, Open-dLLM (`--fact shift=true` where the name is not a known one)",
	Checked: "outputs of transformers with attention both ways on a small random checkpoint",
	Network: Gated,
	classes: []string{"A2DQwen2LMHeadModel", "TinyA2DQwen2LMHeadModel", "Qwen2ForCausalLM"},
	parse: func(p probe) (Config, error) {
		c, err := parseQwen(p)
		c.Shift, c.QKVBias = shiftOf(p.class), true
		return c, err
	},
	embedding: qwenNames.Embedding + ".weight", names: qwenNames, parts: qwenParts,
}

var qwen3Family = Family{
	Name:    "qwen3",
	Models:  "Qwen3's network trained for diffusion, which normalises queries and keys: Tiny-A2D",
	Checked: "outputs of transformers with attention both ways on a small random checkpoint",
	Network: Gated,
	classes: []string{"A2DQwen3LMHeadModel", "TinyA2DQwen3LMHeadModel", "Qwen3ForCausalLM"},
	parse: func(p probe) (Config, error) {
		c, err := parseQwen(p)
		c.Shift, c.HeadNorm = shiftOf(p.class), true
		if c.Head == 0 {
			c.Head = 128 // The class's default.
		}
		return c, err
	},
	embedding: qwenNames.Embedding + ".weight", names: qwenNames, parts: qwenParts,
}

// shiftOf says whether position i predicts token i+1: the classes of A2D predict token i, and
// those of causal language models, under which others publish, do not tell.
func shiftOf(class string) Told {
	if strings.Contains(class, "A2D") {
		return No
	}
	return Untold
}

var qwenParts = []string{"embed_tokens", "layers", "norm", "lm_head"}

// adapted is the length that Dream was trained for. What such a config says of positions is
// about the causal language model that a network was before.
const adapted = 2048

// parseQwen reads a config.json with the keys of Qwen's networks.
func parseQwen(p probe) (Config, error) {
	type scaling struct {
		RopeTheta *float64 `json:"rope_theta"`
		RopeType  *string  `json:"rope_type"`
		Type      *string  `json:"type"`
	}
	var f struct {
		HiddenSize       *int     `json:"hidden_size"`
		NumHiddenLayers  *int     `json:"num_hidden_layers"`
		NumHeads         *int     `json:"num_attention_heads"`
		NumKVHeads       *int     `json:"num_key_value_heads"`
		HeadDim          *int     `json:"head_dim"`
		IntermediateSize *int     `json:"intermediate_size"`
		MaxPositions     *int     `json:"max_position_embeddings"`
		VocabSize        *int     `json:"vocab_size"`
		MaskTokenID      *int     `json:"mask_token_id"`
		RMSNormEps       *float64 `json:"rms_norm_eps"`
		RopeTheta        *float64 `json:"rope_theta"`
		// Later versions of transformers keep all of rotation in one object.
		RopeParameters *scaling `json:"rope_parameters"`
		RopeScaling    *scaling `json:"rope_scaling"`
		Tied           bool     `json:"tie_word_embeddings"`
		LayerTypes     []string `json:"layer_types"`
	}
	c := Config{Noise: "loglinear", Epsilon: 1e-6, MaskID: facts.Unknown}
	if err := plainjson.Unmarshal(p.text, &f); err != nil {
		return c, err
	}
	err := need(
		field{"hidden_size", f.HiddenSize, &c.Hidden}, field{"num_hidden_layers", f.NumHiddenLayers, &c.Blocks},
		field{"num_attention_heads", f.NumHeads, &c.Heads}, field{"num_key_value_heads", f.NumKVHeads, &c.KVHeads},
		field{"intermediate_size", f.IntermediateSize, &c.Inner}, field{"max_position_embeddings", f.MaxPositions, &c.Positions},
		field{"vocab_size", f.VocabSize, &c.Columns})
	if err == nil {
		err = p.pinned(pin{"hidden_act", `"silu"`, true}, pin{"attention_bias", "false", true}, pin{"use_sliding_window", "false", true})
	}
	if err != nil {
		return c, err
	}
	for _, s := range []*scaling{f.RopeParameters, f.RopeScaling} {
		if s == nil {
			continue
		}
		set(&c.RotaryBase, s.RopeTheta)
		for _, kind := range []*string{s.RopeType, s.Type} {
			if kind != nil && *kind != "default" {
				return c, fmt.Errorf("rotary positions of type %.40q are not read yet", *kind)
			}
		}
	}
	set(&c.RotaryBase, f.RopeTheta)
	set(&c.Head, f.HeadDim)
	set(&c.MaskID, f.MaskTokenID)
	set(&c.Epsilon, f.RMSNormEps)
	c.Tokens, c.Tied, c.Length = c.Columns, f.Tied, min(c.Positions, adapted)
	switch {
	case f.RopeTheta == nil && (f.RopeParameters == nil || f.RopeParameters.RopeTheta == nil):
		return c, fmt.Errorf("missing: rope_theta")
	case f.HeadDim != nil && *f.HeadDim < 1:
		return c, fmt.Errorf("head_dim is %d: must be at least 2", *f.HeadDim)
	}
	for _, t := range f.LayerTypes {
		if t != "full_attention" {
			return c, fmt.Errorf("layer_types has %.40q: only full_attention is read", t)
		}
	}
	return c, nil
}
