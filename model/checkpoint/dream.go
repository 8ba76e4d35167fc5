package checkpoint

var dreamFamily = Family{
	Name:    "dream",
	Models:  "Dream, Dream-Coder (Ye et al. 2025, arXiv 2508.15487), DiffuCoder (Gong et al. 2025, arXiv 2506.20639): shifted logits",
	Checked: "outputs of a public implementation on small random checkpoints: three shards, and a tied head in F16",
	Network: Gated,
	classes: []string{"DreamModel"},
	parse: func(p probe) (Config, error) {
		c, err := parseQwen(p)
		c.Shift, c.QKVBias = Yes, true
		return c, err
	},
	embedding: qwenNames.Embedding + ".weight", names: qwenNames, parts: qwenParts,
}
