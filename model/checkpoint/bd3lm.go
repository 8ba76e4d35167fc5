package checkpoint

// BD3LM is the family of Arriola et al. 2025, arXiv 2503.09573.
const BD3LM = "bd3lm"

var bd3lmFamily = Family{
	Name:    BD3LM,
	Models:  "BD3-LM (Arriola et al. 2025, arXiv 2503.09573), with adaLN or without, and files of its trainer: block-causal",
	Checked: "the authors' code: all blocks at once, and runs with kept rows",
	naming:  dditNaming,
	classes: []string{"BD3LM"},
	// With a time the rows of finished blocks would depend on the time of the first block.
	pins:      []pin{{"time_conditioning", "false", true}, {"causal", "false", true}},
	ignored:   []string{"attn_backend", "block_size", "sampling_eps_*", "var_min"},
	recognise: func(p probe) bool { return p.kind() == BD3LM },
	parse: func(p probe) (Config, error) {
		// The defaults are those of the published class.
		c := Config{Noise: "loglinear", Hidden: 768, Blocks: 12, Heads: 12, Length: 1024, Columns: 50258, Cond: 129}
		s := p.root
		s.May("hidden_dim", &c.Hidden)
		s.May("n_blocks", &c.Blocks)
		s.May("n_heads", &c.Heads)
		s.May("model_length", &c.Length)
		s.May("vocab_size", &c.Columns)
		s.May("cond_dim", &c.Cond)
		conditioned, blocks := true, true
		s.May("adaln", &conditioned)
		s.May("cross_attn", &blocks)
		c.Plain, c.MaskID = !conditioned, c.Columns-1
		err := s.Err()
		if err == nil && blocks { // else attention is bidirectional, as before the training of blocks
			c.BlockSize, err = p.blockSize("block_size", 1)
		}
		return c, err
	},
}

// blockSize reads the size of blocks; size is the default, the one in most repositories of a
// family.
func (p probe) blockSize(key string, size int) (int, error) {
	if p.root.May(key, &size); size < 1 {
		p.root.Fail("%s is %d: must be at least 1", key, size)
	}
	return size, p.root.Err()
}
