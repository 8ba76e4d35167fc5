package checkpoint

import "mdmgen/internal/plainjson"

// MDLM is the family of Sahoo et al. 2024, arXiv 2406.07524.
const MDLM = "mdlm"

var mdlmFamily = Family{
	Name:    MDLM,
	Models:  "MDLM (Sahoo et al. 2024, arXiv 2406.07524), time-conditioned or not, and files of its trainer",
	Checked: "outputs of the authors' code on small random checkpoints, and on files of its trainer with either set of weights",
	Network: DDiT,
	classes: []string{"MDLM"},
	// A class of another name is one of those that wrap the network.
	recognise: func(p probe) bool {
		t := p.word("model_type")
		_, ok := p.keys["hidden_dim"]
		return t == MDLM && p.keys["model"] == nil || t == "" && ok
	},
	parse:     parseMDLM,
	embedding: dditEmbedding, parts: dditParts,
}

// parseMDLM reads a flat config.json.
func parseMDLM(p probe) (Config, error) {
	var f struct {
		HiddenDim        *int  `json:"hidden_dim"`
		CondDim          *int  `json:"cond_dim"`
		NBlocks          *int  `json:"n_blocks"`
		NHeads           *int  `json:"n_heads"`
		ModelLength      *int  `json:"model_length"`
		VocabSize        *int  `json:"vocab_size"`
		MaskTokenID      *int  `json:"mask_token_id"`
		TimeConditioning *bool `json:"time_conditioning"`
	}
	c := Config{Noise: "loglinear"}
	if err := plainjson.Unmarshal(p.text, &f); err != nil {
		return c, err
	}
	err := need(
		field{"hidden_dim", f.HiddenDim, &c.Hidden}, field{"cond_dim", f.CondDim, &c.Cond},
		field{"n_blocks", f.NBlocks, &c.Blocks}, field{"n_heads", f.NHeads, &c.Heads},
		field{"model_length", f.ModelLength, &c.Length}, field{"vocab_size", f.VocabSize, &c.Columns})
	if err != nil {
		return c, err
	}
	// The published class takes false for an absent key, and the mask for the
	// row that was appended to the tokenizer's.
	c.TimeConditioned = f.TimeConditioning != nil && *f.TimeConditioning
	c.MaskID = c.Columns - 1
	if f.MaskTokenID != nil {
		c.MaskID = *f.MaskTokenID
	}
	return c, nil
}
