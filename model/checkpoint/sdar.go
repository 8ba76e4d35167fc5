package checkpoint

var sdarFamily = Family{
	Name:    "sdar",
	Models:  "SDAR, dense (Cheng et al. 2025, arXiv 2510.06303): Qwen3's network, block-causal",
	Checked: "outputs of the authors' code on a small random checkpoint: whole canvases, two copies, and runs with kept rows",
	Network: Gated,
	blocks:  true,
	classes: []string{"SDARForCausalLM"},
	parse: func(p probe) (Config, error) {
		c, err := parseQwen3(p)
		if err == nil {
			c.BlockSize, err = p.blockSize("block_size", 4)
		}
		return c, err
	},
	embedding: qwenNames.Embedding + ".weight", names: qwenNames, parts: qwenParts,
}

var fastDLLMFamily = Family{
	Name:    "fast-dllm-v2",
	Models:  "Fast-dLLM v2 (Wu et al. 2025, arXiv 2509.26328): Qwen2's network, block-causal, shifted logits",
	Checked: "outputs of the authors' code on a small random checkpoint: whole canvases, two copies, and runs with kept rows",
	Network: Gated,
	blocks:  true,
	classes: []string{"Fast_dLLM_QwenForCausalLM"},
	parse: func(p probe) (Config, error) {
		c, err := parseQwen(p)
		c.Shift, c.QKVBias = Yes, true
		if err == nil {
			c.BlockSize, err = p.blockSize("bd_size", 32)
		}
		return c, err
	},
	embedding: qwenNames.Embedding + ".weight", names: qwenNames, parts: qwenParts,
}
