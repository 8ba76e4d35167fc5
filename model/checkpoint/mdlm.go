package checkpoint

// MDLM is the family of Sahoo et al. 2024, arXiv 2406.07524.
const MDLM = "mdlm"

var mdlmFamily = Family{
	Name:    MDLM,
	Models:  "MDLM (Sahoo et al. 2024, arXiv 2406.07524), time-conditioned or not, and files of its trainer",
	Checked: "the authors' code, on files of its trainer with either set of weights too",
	naming:  dditNaming,
	classes: []string{"MDLM"},
	// Other class names are those of wrappers around the network.
	recognise: func(p probe) bool {
		t := p.kind()
		_, ok := p.keys["hidden_dim"]
		return t == MDLM && p.keys["model"] == nil || t == "" && ok
	},
	parse: parseMDLM,
}

// parseMDLM reads a flat config.json.
func parseMDLM(p probe) (Config, error) {
	c := Config{Noise: "loglinear"}
	s := p.root
	s.Need("hidden_dim", &c.Hidden)
	s.Need("cond_dim", &c.Cond)
	s.Need("n_blocks", &c.Blocks)
	s.Need("n_heads", &c.Heads)
	s.Need("model_length", &c.Length)
	s.Need("vocab_size", &c.Columns)
	// In the published class an absent key means false, and the mask is the row appended to those
	// of the tokenizer.
	s.May("time_conditioning", &c.TimeConditioned)
	c.MaskID = c.Columns - 1
	s.May("mask_token_id", &c.MaskID)
	return c, s.Err()
}
