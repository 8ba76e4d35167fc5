package checkpoint

import (
	"cmp"
	"fmt"
	"strings"

	"mdmgen/internal/plainjson"
	"mdmgen/model/facts"
)

var qwen2Family = Family{
	Name:    "qwen2",
	Models:  "Qwen2's network trained for diffusion: Tiny-A2D, Open-dLLM (`--set fact=shift=true` if the name is not known)",
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
		c, err := parseQwen3(p)
		c.Shift = shiftOf(p.class)
		return c, err
	},
	embedding: qwenNames.Embedding + ".weight", names: qwenNames, parts: qwenParts,
}

func parseQwen3(p probe) (Config, error) {
	c, err := parseQwen(p)
	if c.HeadNorm = true; c.Head == 0 {
		c.Head = 128 // The class's default.
	}
	s := p.settings()
	s.May("attention_bias", &c.QKVBias)
	c.OutBias = c.QKVBias
	return c, cmp.Or(err, s.Err())
}

// shiftOf returns whether position i predicts token i+1: the classes of A2D predict token i, and
// those of causal language models, under which others publish, do not determine it.
func shiftOf(class string) Tristate {
	if strings.Contains(class, "A2D") {
		return No
	}
	return Unstated
}

var qwenParts = []string{"embed_tokens", "layers", "norm", "lm_head"}

// adapted is the length that Dream was trained for. The positions in such a config describe the
// causal language model that the network was before.
const adapted = 2048

// parseQwen reads a config.json with the keys of Qwen's networks.
func parseQwen(p probe) (Config, error) {
	c := Config{Noise: "loglinear", Epsilon: 1e-6, MaskID: facts.Unknown}
	s := p.settings()
	s.Need("hidden_size", &c.Hidden)
	s.Need("num_hidden_layers", &c.Blocks)
	s.Need("num_attention_heads", &c.Heads)
	if c.KVHeads = c.Heads; !p.null("num_key_value_heads") { // null: no heads share keys
		s.Need("num_key_value_heads", &c.KVHeads)
	}
	s.Need("intermediate_size", &c.Inner)
	s.Need("max_position_embeddings", &c.Positions)
	s.Need("vocab_size", &c.Columns)
	s.May("mask_token_id", &c.MaskID)
	s.May("rms_norm_eps", &c.Epsilon)
	s.May("tie_word_embeddings", &c.Tied)
	c.Tokens, c.Length = c.Columns, min(c.Positions, adapted)
	// Later versions of transformers keep all settings of rotation in one object.
	rotation := s.In("rope_parameters")
	if theta := rotation.May("rope_theta", &c.RotaryBase); !s.May("rope_theta", &c.RotaryBase) && !theta {
		s.Lack("rope_theta")
	}
	for _, r := range []plainjson.Object{rotation, s.In("rope_scaling")} {
		for _, key := range []string{"rope_type", "type"} {
			var kind string
			if r.May(key, &kind) && kind != "default" {
				return c, fmt.Errorf("rotary positions of type %.40q are not supported yet", kind)
			}
		}
	}
	var layers []string
	s.May("layer_types", &layers)
	for _, t := range layers {
		if t != "full_attention" {
			return c, fmt.Errorf("layer_types has %.40q: only full_attention is read", t)
		}
	}
	if s.May("head_dim", &c.Head) && c.Head < 1 {
		return c, fmt.Errorf("head_dim is %d: must be at least 2", c.Head)
	}
	if err := s.Err(); err != nil {
		return c, err
	}
	return c, p.pinned(pin{"hidden_act", `"silu"`, true}, pin{"use_sliding_window", "false", true})
}
