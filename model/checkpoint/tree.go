package checkpoint

import (
	"encoding/json"
	"fmt"
)

// The families that publish their trainer's tree of settings.
const (
	RADD = "radd" // Ou et al. 2024, arXiv 2406.03736
	SEDD = "sedd" // Lou et al. 2024, arXiv 2310.16834, absorbing graph
)

var (
	raddFamily = treeFamily(RADD,
		"RADD (Ou et al. 2024, arXiv 2406.03736)",
		"the authors' code, from safetensors and from a pickle")
	seddFamily = treeFamily(SEDD,
		"SEDD of the absorbing graph (Lou et al. 2024, arXiv 2310.16834), with `scale_by_sigma` or without",
		"the authors' code, with `scale_by_sigma` and without")
)

func treeFamily(name, models, checked string) Family {
	return Family{Name: name, Models: models, Checked: checked, naming: dditNaming, tree: true,
		recognise: func(p probe) bool { return p.object("model") && p.tree() == name },
		parse:     func(p probe) (Config, error) { return parseTree(p, name) },
		ignored:   []string{"name", "cond_dim", "dropout", "dtype", "use_checkpoint"}}
}

// tree returns the family of a tree by its model.type ("ddit_wot" is RADD, "ddit" SEDD); without
// one, a tree with scale_by_sigma is SEDD's.
func (p probe) tree() string {
	var m struct {
		Type         any `json:"type"`
		ScaleBySigma any `json:"scale_by_sigma"`
	}
	_ = json.Unmarshal(p.keys["model"], &m) // Faults are reported when it is read.
	if m.Type == nil && m.ScaleBySigma == nil || m.Type == "ddit_wot" {
		return RADD
	}
	return SEDD
}

// parseTree reads the omegaconf tree that RADD and SEDD publish.
func parseTree(p probe, family string) (Config, error) {
	c := Config{Noise: "loglinear"}
	s := p.root
	m := s.In("model")
	var kind, graph string
	if m.May("type", &kind) && kind != "" && kind != "ddit" && kind != "ddit_wot" {
		return c, fmt.Errorf("model.type is %q: must be ddit_wot (RADD) or ddit (SEDD)", kind)
	}
	if s.In("graph").May("type", &graph) && graph != "" && graph != "absorb" {
		return c, fmt.Errorf("graph.type is %q: uniform-state diffusion has no mask: only absorb is supported", graph)
	}
	noise, low, high := s.In("noise"), 1e-4, 20.0
	noise.May("type", &c.Noise)
	noise.May("sigma_min", &low)
	noise.May("sigma_max", &high)
	if c.Noise == "geometric" && (low != 1e-4 || high != 20) {
		return c, fmt.Errorf("noise is from %v to %v: only 1e-4 to 20 is supported", low, high)
	}
	s.Need("tokens", &c.MaskID)
	m.Need("hidden_size", &c.Hidden)
	m.Need("n_blocks", &c.Blocks)
	m.Need("n_heads", &c.Heads)
	m.Need("length", &c.Length)
	if family == SEDD {
		c.TimeConditioned = true
		m.May("scale_by_sigma", &c.ScaleBySigma)
		m.Need("cond_dim", &c.Cond)
	}
	if c.MaskID < 1 || c.MaskID >= maxColumns {
		s.Fail("tokens is %d: must be in 1..%d", c.MaskID, maxColumns-1)
	}
	c.Columns = c.MaskID + 1
	return c, s.Err()
}
