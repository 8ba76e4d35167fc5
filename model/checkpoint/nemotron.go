package checkpoint

import "mdmgen/model/facts"

var nemotronFamily = Family{
	Name:    "nemotron",
	Models:  "Nemotron-Labs-Diffusion (NVIDIA 2026): causal, and in blocks that begin anywhere",
	Checked: "mlx-vlm: blocks, causal rows, and runs call by call",
	classes: []string{"NemotronLabsDiffusionModel", "DiffEncoderModel"},
	parse:   parseNemotron,
	blocks:  true,
	decoder: "threshold threshold=0.9 temperature=0",
	pins: []pin{{"hidden_act", `"silu"`, true}, {"mlp_bias", "false", true}, {"use_sliding_window", "false", true},
		{"sliding_window", "null", true}, {"disable_qk_norm", "false", true}},
	// Settings of training.
	ignored: []string{"attention_bias", "max_window_layers", "dlm_*", "dp_varying_mask_ratio", "prefix_ratio", "random_length_prob", "complementary_mask", "ada_*"},
	naming:  nemotronNaming(),
}

// nemotronNaming is that of Qwen's networks in an encoder, with a head beside it.
func nemotronNaming() naming {
	n := qwenNaming
	n.embedding, n.parts = "encoder."+n.embedding, []string{"encoder", "diffusion_head"}
	for _, name := range []*string{&n.names.Embedding, &n.names.Block, &n.names.FinalNorm} {
		*name = "encoder." + *name
	}
	n.names.Head = "diffusion_head"
	return n
}

// trainedFor bounds the default length of a canvas: tables of rotations grow with it, and a fact may
// give a greater one.
const trainedFor = 1 << 15

// parseNemotron reads Ministral 3's keys, or Qwen3's for DiffEncoderModel, which normalises queries and
// keys.
func parseNemotron(p probe) (Config, error) {
	c, err := parseQwen(p, "intermediate_size")
	if err != nil {
		return c, err
	}
	s := p.root
	c.Causal, c.Length = true, min(c.Positions, trainedFor)
	if c.Epsilon = 1e-5; p.class == "DiffEncoderModel" {
		c.HeadNorm, c.Epsilon = true, 1e-6
	}
	s.May("rms_norm_eps", &c.Epsilon)
	s.May("attention_bias", &c.QKVBias)
	if c.OutBias = c.QKVBias; c.MaskID == facts.Unknown && p.class != "DiffEncoderModel" {
		c.MaskID = 100 // the class's default
	}
	c.BlockSize, err = p.blockSize("block_size", 32)
	return c, err
}
