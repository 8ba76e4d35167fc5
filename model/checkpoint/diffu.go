package checkpoint

import (
	"fmt"
	"slices"
	"strings"

	"mdmgen/model/facts"
)

// denoiser begins the names of the tensors of DiffuGPT and DiffuLLaMA, whose config.json is that of the
// causal language model from which each was adapted.
const denoiser = "denoise_model."

// PositionTable is the name of the embedding of positions of a [Learned] network.
const PositionTable = "wpe.weight"

const adaptedFrom = " (Gong et al. 2025, arXiv 2410.17891): shifted logits"

var diffuGPTFamily = Family{
	Name:    "diffugpt",
	Models:  "DiffuGPT" + adaptedFrom,
	Checked: "the authors' code",
	classes: []string{"GPT2LMHeadModel"}, tensor: denoiser,
	parse: parseDiffuGPT,
	pins: []pin{{"activation_function", `"gelu_new"`, true}, {"scale_attn_weights", "true", true}, {"scale_attn_by_inverse_layer_idx", "false", true},
		{"add_cross_attention", "false", true}},
	ignored: []string{"summary_*", "n_ctx"},
	naming: naming{
		Network: Learned, embedding: "embed_tokens.weight", parts: []string{"embed_tokens", "wpe", "h", "ln_f", "lm_head"},
		names: Names{
			Embedding: "embed_tokens", Block: "h.%d.",
			AttentionNorm: "ln_1", MLPNorm: "ln_2",
			Queries: "attn.c_attn", Keys: "attn.c_attn", Values: "attn.c_attn", AttentionOut: "attn.c_proj",
			Up: "mlp.c_fc", Down: "mlp.c_proj",
			FinalNorm: "ln_f", Head: "lm_head",
		},
	},
}

var diffuLLaMAFamily = Family{
	Name:    "diffullama",
	Models:  "DiffuLLaMA" + adaptedFrom,
	Checked: "the authors' code",
	classes: []string{"LlamaForCausalLM"}, tensor: denoiser,
	parse: func(p probe) (Config, error) {
		c, err := parseQwen(p, "intermediate_size")
		c.Shift = Yes
		return c, err
	},
	pins:   []pin{{"hidden_act", `"silu"`, true}, {"attention_bias", "false", true}, {"mlp_bias", "false", true}},
	naming: qwenNaming,
}

// parseDiffuGPT reads GPT-2's config.json.
func parseDiffuGPT(p probe) (Config, error) {
	c := Config{Epsilon: 1e-5, Tied: true, QKVBias: true, OutBias: true, Shift: Yes, Noise: "loglinear", MaskID: facts.Unknown}
	s := p.root
	s.Need("vocab_size", &c.Columns)
	s.Need("n_positions", &c.Length)
	s.Need("n_embd", &c.Hidden)
	s.Need("n_layer", &c.Blocks)
	s.Need("n_head", &c.Heads)
	c.Inner = 4 * min(c.Hidden, maxWidth)
	s.May("n_inner", &c.Inner)
	s.May("layer_norm_epsilon", &c.Epsilon)
	s.May("mask_token_id", &c.MaskID)
	s.May("tie_word_embeddings", &c.Tied)
	c.Tokens = c.Columns
	return c, s.Err()
}

// learnedTensors lists the parameters of a [Learned] network, in which GPT-2 stores matrices as [in,
// out].
func learnedTensors(c Config) (l layout) {
	n, h := c.Names(), c.Hidden
	linear := func(name string, out, in int) {
		l = append(l, Spec{Name: name + ".weight", Shape: []int{in, out}, Across: true})
		l.add(name+".bias", out)
	}
	l.add(c.Embedding(), c.Columns, h)
	l.add(PositionTable, c.Length, h)
	for i := range c.Blocks {
		l.norm(n.At(i, n.AttentionNorm), h, true)
		linear(n.At(i, n.Queries), 3*h, h)
		linear(n.At(i, n.AttentionOut), h, h)
		l.norm(n.At(i, n.MLPNorm), h, true)
		linear(n.At(i, n.Up), c.Inner, h)
		linear(n.At(i, n.Down), h, c.Inner)
	}
	l.norm(n.FinalNorm, h, true)
	if !c.Tied {
		l.linear(n.Head, c.Columns, h, false)
	}
	return l
}

// doubt returns an error if causal language models have such a config, too: the names of tensors tell.
func (f *Family) doubt() error {
	if f.tensor == "" {
		return nil
	}
	return fmt.Errorf("%s: %s, unless it is from %s", f.classes[0], causal, f.Name)
}

// Doubt returns an error for a config that causal language models have, too.
func (c Config) Doubt() error { return c.family().doubt() }

// causal returns an error if none of the tensors has a name of the family's own.
func (c Config) causal(stored []Tensor) error {
	f := c.family()
	if f.tensor != "" && !slices.ContainsFunc(stored, func(t Tensor) bool { return strings.Contains(t.Name, f.tensor) }) {
		return fmt.Errorf("%s: %s", f.classes[0], causal)
	}
	return nil
}
