package checkpoint

import (
	"encoding/json"
	"fmt"

	"mdmgen/internal/plainjson"
)

// The families that publish their trainer's tree of settings.
const (
	RADD = "radd" // Ou et al. 2024, arXiv 2406.03736
	SEDD = "sedd" // Lou et al. 2024, arXiv 2310.16834, absorbing graph
)

var raddFamily = Family{
	Name:      RADD,
	Models:    "RADD (Ou et al. 2024, arXiv 2406.03736)",
	Checked:   "outputs of the authors' code on a small random checkpoint, from safetensors and from a pickle",
	Network:   DDiT,
	recognise: func(p probe) bool { return p.object("model") && p.tree() == RADD },
	parse:     func(p probe) (Config, error) { return parseTree(p, RADD) },
	embedding: dditEmbedding, parts: dditParts,
}

var seddFamily = Family{
	Name:      SEDD,
	Models:    "SEDD of the absorbing graph (Lou et al. 2024, arXiv 2310.16834), with `scale_by_sigma` or without",
	Checked:   "outputs of the authors' code on small random checkpoints, with `scale_by_sigma` and without",
	Network:   DDiT,
	recognise: func(p probe) bool { return p.object("model") },
	parse:     func(p probe) (Config, error) { return parseTree(p, SEDD) },
	embedding: dditEmbedding, parts: dditParts,
}

// tree is the family of a tree by its model.type ("ddit_wot" is RADD, "ddit" SEDD); where
// that is absent, SEDD is what has a scale_by_sigma.
func (p probe) tree() string {
	var m struct {
		Type         any `json:"type"`
		ScaleBySigma any `json:"scale_by_sigma"`
	}
	_ = json.Unmarshal(p.keys["model"], &m) // What is wrong with it is told where it is read.
	if m.Type == nil && m.ScaleBySigma == nil || m.Type == "ddit_wot" {
		return RADD
	}
	return SEDD
}

// parseTree reads the omegaconf tree that RADD and SEDD publish.
func parseTree(p probe, family string) (Config, error) {
	var t struct {
		Tokens *int `json:"tokens"`
		Graph  *struct {
			Type *string `json:"type"`
		} `json:"graph"`
		Noise *struct {
			Type *string `json:"type"`
		} `json:"noise"`
		Model *struct {
			Type         *string `json:"type"`
			HiddenSize   *int    `json:"hidden_size"`
			CondDim      *int    `json:"cond_dim"`
			Length       *int    `json:"length"`
			NBlocks      *int    `json:"n_blocks"`
			NHeads       *int    `json:"n_heads"`
			ScaleBySigma *bool   `json:"scale_by_sigma"`
		} `json:"model"`
	}
	c := Config{Noise: "loglinear"}
	if err := plainjson.Unmarshal(p.text, &t); err != nil {
		return c, err
	}
	m := t.Model
	if m.Type != nil && *m.Type != "ddit" && *m.Type != "ddit_wot" {
		return c, fmt.Errorf("model.type is %q: must be ddit_wot (RADD) or ddit (SEDD)", *m.Type)
	}
	if t.Graph != nil && t.Graph.Type != nil && *t.Graph.Type != "absorb" {
		return c, fmt.Errorf("graph.type is %q, which is uniform-state diffusion and has no mask: only absorb is read", *t.Graph.Type)
	}
	if t.Noise != nil && t.Noise.Type != nil {
		c.Noise = *t.Noise.Type
	}
	want := []field{{"tokens", t.Tokens, &c.MaskID}, {"model.hidden_size", m.HiddenSize, &c.Hidden},
		{"model.n_blocks", m.NBlocks, &c.Blocks}, {"model.n_heads", m.NHeads, &c.Heads}, {"model.length", m.Length, &c.Length}}
	if family == SEDD {
		c.TimeConditioned = true
		c.ScaleBySigma = m.ScaleBySigma != nil && *m.ScaleBySigma
		want = append(want, field{"model.cond_dim", m.CondDim, &c.Cond})
	}
	if err := need(want...); err != nil {
		return c, err
	}
	if c.MaskID < 1 || c.MaskID >= maxColumns {
		return c, fmt.Errorf("tokens is %d: must be in 1..%d", c.MaskID, maxColumns-1)
	}
	c.Columns = c.MaskID + 1
	return c, nil
}
