package checkpoint

import (
	"cmp"
	"fmt"
)

// Experts describes the blocks of a [Gated] network whose MLP is a mixture of experts. Each position
// passes through the chosen ones of Count small MLPs, whose outputs are added by weights that a
// router computes in float32. It is zero if there are none.
//
// The router's score of expert e is σ(r_e) if Sigmoid, else softmax(r)_e, where r are its outputs.
// Experts are chosen by score, plus a bias of each if Biased. With Groups, they are in groups of
// consecutive numbers, ranked by the sum of their two best, and only the best GroupsChosen count. The
// weights are the chosen scores without bias, divided by their sum unless Raw, and times Factor.
type Experts struct {
	Count, Chosen        int
	Inner                int // width of an expert
	Shared               int // width of the expert that all positions pass in addition, 0 if there is none
	Groups, GroupsChosen int // 0 if there are none
	Sigmoid, Biased, Raw bool
	Factor               float64
	Dense                [maxBlocks]bool // blocks with an MLP of the usual kind instead
}

// In reports whether block i has experts.
func (x Experts) In(i int) bool { return x.Count > 0 && !x.Dense[i] }

// Router returns the name of the router of block i; its bias for the choice is called RouterBias.
func (n Names) Router(i int) string { return n.At(i, "mlp.gate") }

// RouterBias returns the name of the tensor with the bias of each expert of block i.
func (n Names) RouterBias(i int) string { return n.Router(i) + ".expert_bias" }

// MLP are the names of the layers of a gated MLP.
type MLP struct{ Gate, Up, Down string }

// Shared is the number of the expert that all positions pass.
const Shared = -1

// Expert returns the names of the layers of an expert of block i.
func (n Names) Expert(i, number int) MLP {
	at := n.At(i, fmt.Sprintf("mlp.experts.%d.", number))
	if number == Shared {
		at = n.At(i, "mlp.shared_experts.")
	}
	return MLP{at + "gate_proj", at + "up_proj", at + "down_proj"}
}

// MLP returns the names of the layers of the MLP of block i.
func (n Names) MLP(i int) MLP { return MLP{n.At(i, n.Gate), n.At(i, n.Up), n.At(i, n.Down)} }

// mlp lists the parameters of a gated MLP.
func (l *layout) mlp(n MLP, inner, hidden int) {
	l.linear(n.Gate, inner, hidden, false)
	l.linear(n.Up, inner, hidden, false)
	l.linear(n.Down, hidden, inner, false)
}

// experts lists the parameters of the mixture of block i.
func (l *layout) experts(c Config, i int) {
	x, n := c.Experts, c.Names()
	l.linear(n.Router(i), x.Count, c.Hidden, false)
	if x.Biased {
		l.add(n.RouterBias(i), x.Count)
	}
	for e := range x.Count {
		l.mlp(n.Expert(i, e), x.Inner, c.Hidden)
	}
	if x.Shared > 0 {
		l.mlp(n.Expert(i, Shared), x.Shared, c.Hidden)
	}
}

// fault returns the first problem with the experts, "" if there is none.
func (x Experts) fault() string {
	switch {
	case x.Count == 0:
		return ""
	case x.Count < 1 || x.Count > maxExperts:
		return fmt.Sprintf("number of experts is %d: must be in 1..%d", x.Count, maxExperts)
	case x.Chosen < 1 || x.Chosen > x.Count:
		return fmt.Sprintf("number of experts for each token is %d: must be in 1..%d", x.Chosen, x.Count)
	case x.Inner < 1 || x.Inner > maxWidth || x.Shared < 0 || x.Shared > maxWidth:
		return fmt.Sprintf("widths of experts are %d and %d: must be at most %d", x.Inner, x.Shared, maxWidth)
	case x.Groups != 0 && (x.Groups < 1 || x.Count%x.Groups != 0 || x.GroupsChosen < 1 || x.GroupsChosen > x.Groups || x.GroupsChosen*(x.Count/x.Groups) < x.Chosen):
		return fmt.Sprintf("%d of %d groups of %d experts, of which %d work", x.GroupsChosen, x.Groups, x.Count, x.Chosen)
	case !(x.Factor > 0 && x.Factor <= 1e6):
		return fmt.Sprintf("factor of the experts is %v: must be above 0 and at most 1e6", x.Factor)
	}
	return ""
}

// maxExperts is the most experts of a layer, far above any published network.
const maxExperts = 1 << 12

var llada2Family = Family{
	Name:    "llada2",
	Models:  "LLaDA2.0 and 2.1, mini and flash (Bie et al. 2025, arXiv 2512.15745): block-causal, with experts",
	Checked: "the authors' code, in many shapes: whole canvases, two copies, and runs with kept rows",
	classes: []string{"LLaDA2MoeModelLM"},
	parse:   parseLLaDA2,
	blocks:  true,
	decoder: "llada2 threshold=0.95 steps=32 temperature=0",
	pins: []pin{{"hidden_act", `"silu"`, true}, {"use_sliding_window", "false", true}, {"norm_head", "false", true}, {"use_qk_norm", "true", true},
		{"use_rmsnorm", "true", true}, {"score_function", `"sigmoid"`, true}, {"norm_topk_prob", "true", true}, {"moe_router_enable_expert_bias", "true", true}},
	ignored: []string{"sliding_window", "max_window_layers", "router_dtype", "norm_softmax"},
	naming: naming{
		Network: Gated, embedding: "word_embeddings.weight", parts: []string{"word_embeddings", "layers", "norm", "lm_head"},
		names: Names{
			Embedding: "word_embeddings", Block: "layers.%d.",
			AttentionNorm: "input_layernorm", MLPNorm: "post_attention_layernorm",
			Queries: "attention.query_key_value", Keys: "attention.query_key_value", Values: "attention.query_key_value",
			QueryNorm: "attention.query_layernorm", KeyNorm: "attention.key_layernorm",
			AttentionOut: "attention.dense",
			Gate:         "mlp.gate_proj", Up: "mlp.up_proj", Down: "mlp.down_proj",
			FinalNorm: "norm", Head: "lm_head",
		},
	},
}

// parseLLaDA2 reads LLaDA2's config.json.
func parseLLaDA2(p probe) (Config, error) {
	c, err := parseQwen(p, "intermediate_size")
	c.Length, c.HeadNorm = c.Positions, true
	x, s := &c.Experts, p.root
	// The class's values of keys that a config may lack.
	x.Sigmoid, x.Biased, x.Groups, x.GroupsChosen, x.Factor, c.Epsilon = true, true, 8, 4, 2.5, 1e-5
	s.May("rms_norm_eps", &c.Epsilon)
	s.Need("num_experts", &x.Count)
	s.Need("num_experts_per_tok", &x.Chosen)
	s.Need("moe_intermediate_size", &x.Inner)
	s.May("routed_scaling_factor", &x.Factor)
	s.May("n_group", &x.Groups)
	s.May("topk_group", &x.GroupsChosen)
	s.May("use_qkv_bias", &c.QKVBias)
	s.May("use_bias", &c.OutBias)
	shared, dense, part := 0, 0, 0.5
	s.May("num_shared_experts", &shared)
	s.May("first_k_dense_replace", &dense)
	s.May("partial_rotary_factor", &part)
	x.Shared = min(shared, maxWidth) * min(x.Inner, maxWidth)
	x.Raw = x.Chosen == 1 // The class divides only several by their sum.
	for i := range min(dense, maxBlocks) {
		x.Dense[i] = true
	}
	if err = cmp.Or(err, s.Err()); err != nil {
		return c, err
	}
	if c.Heads > 0 && part > 0 && part <= 1 {
		c.Rotary = int(float64(c.HeadSize()) * part)
	}
	// Only the factor is used by the class.
	given := c.Rotary
	if s.May("rotary_dim", &given); c.Rotary < 2 || c.Rotary%2 != 0 || given != c.Rotary {
		return c, fmt.Errorf("rotary_dim is %d, and partial_rotary_factor makes %d: must be equal, even and at least 2", given, c.Rotary)
	}
	c.BlockSize, err = p.blockSize("block_size", 32)
	return c, err
}

var lladaMoEFamily = Family{
	Name:    "llada-moe",
	Models:  "LLaDA-MoE 7B-A1B, Base and Instruct (Zhu et al. 2025, arXiv 2509.24389)",
	Checked: "the authors' code, in many shapes",
	classes: []string{"LLaDAMoEModelLM", "LLaDAMoEModel"},
	parse:   parseLLaDAMoE,
	decoder: lladaDecoder,
	// The class ignores norm_topk_prob and moe_router_score_function.
	pins: []pin{{"hidden_act", `"silu"`, true}, {"attention_bias", "false", true}, {"clip_qkv", "null", true}, {"qk_layernorm", "true", true},
		{"shared_expert_intermediate_size", "null", true}, {"moe_router_enable_expert_bias", "false", true}},
	ignored: []string{"norm_topk_prob", "moe_router_score_function", "router_aux_loss_coef"},
	naming:  qwenNaming,
}

// parseLLaDAMoE reads LLaDA-MoE's config.json.
func parseLLaDAMoE(p probe) (Config, error) {
	c, err := parseQwen(p, "dense_intermediate_size")
	c.Length, c.HeadNorm, c.Epsilon = c.Positions, true, 1e-5 // the class's epsilon
	x, s := &c.Experts, p.root
	x.Raw, x.Factor = true, 1
	s.May("rms_norm_eps", &c.Epsilon)
	s.Need("num_experts", &x.Count)
	s.Need("num_experts_per_tok", &x.Chosen)
	s.Need("expert_intermediate_size", &x.Inner)
	var layers []int
	s.May("moe_layer_freq", &layers)
	for i, with := range layers[:min(len(layers), maxBlocks)] {
		x.Dense[i] = with == 0
	}
	return c, cmp.Or(err, s.Err())
}

var sdarMoEFamily = qwenFamily("sdar-moe",
	"SDAR with experts, such as SDAR-30B-A3B-Chat (Cheng et al. 2025, arXiv 2510.06303): Qwen3-MoE's network, block-causal",
	"a public copy of the authors' code, in many shapes: whole canvases, and two copies",
	qwenForm{third: true, blocks: "block_size", size: 4, decoder: sdarDecoder, experts: true}, "SDARMoeForCausalLM")

// parseQwenMoE reads the keys of Qwen3-MoE's experts.
func parseQwenMoE(p probe, c *Config) error {
	x, s := &c.Experts, p.root
	x.Factor, x.Raw = 1, true
	s.Need("num_experts", &x.Count)
	s.Need("num_experts_per_tok", &x.Chosen)
	s.Need("moe_intermediate_size", &x.Inner)
	var normed bool
	s.May("norm_topk_prob", &normed)
	x.Raw = !normed
	every, dense := 1, []int(nil)
	s.May("decoder_sparse_step", &every)
	s.May("mlp_only_layers", &dense)
	for i := range x.Dense {
		x.Dense[i] = every < 1 || (i+1)%every != 0
	}
	for _, i := range dense {
		if i >= 0 && i < maxBlocks {
			x.Dense[i] = true
		}
	}
	return s.Err()
}
