package checkpoint

import (
	"cmp"
	"slices"
	"strings"

	"mdmgen/model/facts"
)

// The families with Qwen's network.
var (
	dreamFamily = qwenFamily("dream",
		"Dream, Dream-Coder (Ye et al. 2025, arXiv 2508.15487), DiffuCoder (Gong et al. 2025, arXiv 2506.20639): shifted logits",
		"a public implementation: three shards, and a tied head in F16",
		qwenForm{shift: Yes, decoder: "confidence rule=dream score=entropy steps=512 temperature=0.2 top-p=0.95"}, "DreamModel")
	qwen2Family = qwenFamily("qwen2",
		"Qwen2's network trained for diffusion: Tiny-A2D, Open-dLLM (with the fact `shift=true` if the name is not known)",
		"transformers with attention both ways",
		qwenForm{shift: Unstated}, "A2DQwen2LMHeadModel", "TinyA2DQwen2LMHeadModel", "Qwen2ForCausalLM")
	qwen3Family = qwenFamily("qwen3",
		"Qwen3's network trained for diffusion, which normalises queries and keys: Tiny-A2D",
		"transformers with attention both ways",
		qwenForm{third: true, shift: Unstated}, "A2DQwen3LMHeadModel", "TinyA2DQwen3LMHeadModel", "Qwen3ForCausalLM")
	sdarFamily = qwenFamily("sdar",
		"SDAR, dense (Cheng et al. 2025, arXiv 2510.06303), and TraDo, trained from it: Qwen3's network, block-causal",
		"the authors' code: whole canvases, two copies, and runs with kept rows",
		qwenForm{third: true, blocks: "block_size", size: 4, decoder: sdarDecoder}, "SDARForCausalLM")
	fastDLLMFamily = qwenFamily("fast-dllm-v2",
		"Fast-dLLM v2 (Wu et al. 2025, arXiv 2509.26328): Qwen2's network, block-causal, shifted logits",
		"the authors' code: whole canvases, two copies, and runs with kept rows",
		qwenForm{shift: Yes, blocks: "bd_size", size: 32, decoder: "threshold threshold=0.9 block-length=8 temperature=0"}, "Fast_dLLM_QwenForCausalLM")
)

// sdarDecoder counts a drawn token's probability after temperature and truncation.
const sdarDecoder = "threshold threshold=0.85 score=maskgit-plus"

// qwenForm is what the families with Qwen's network differ in.
type qwenForm struct {
	third bool // Qwen3's network, which normalises queries and keys; else Qwen2's, which has biases
	// shift is whether position i predicts token i+1. The classes of A2D predict token i; those of
	// causal language models, under which others publish, do not determine it.
	shift Tristate
	// blocks is the key of the size of blocks, and size its default; "" if attention is both ways, for A2D
	// unless a config or a fact says otherwise.
	blocks string
	size   int
	// decoder is that of the family.
	decoder string
	// experts means that blocks have Qwen3-MoE's experts.
	experts bool
}

func qwenFamily(name, models, checked string, form qwenForm, classes ...string) Family {
	return Family{Name: name, Models: models, Checked: checked, naming: qwenNaming, decoder: form.decoder, blocks: form.blocks != "" || form.shift == Unstated, classes: classes, parse: form.parse,
		pins: []pin{{"hidden_act", `"silu"`, true}, {"use_sliding_window", "false", true}},
		// Biases without tensors are missed by name, and windows count only with use_sliding_window.
		ignored: []string{"attention_bias", "sliding_window", "max_window_layers", "fuse_cross_entropy", "ep_size", "conplemenrary_mask"}}
}

func (f qwenForm) parse(p probe) (Config, error) {
	c, err := parseQwen(p, "intermediate_size")
	if c.Shift = f.shift; strings.Contains(p.class, "A2D") {
		c.Shift = No
	}
	if c.QKVBias = !f.third; f.third {
		s := p.root
		s.May("attention_bias", &c.QKVBias)
		c.HeadNorm, c.OutBias, c.Head = true, c.QKVBias, cmp.Or(c.Head, 128) // 128 is the class's default.
		err = cmp.Or(err, s.Err())
	}
	if err == nil && f.experts {
		err = parseQwenMoE(p, &c)
	}
	if key := cmp.Or(f.blocks, p.blocks()); err == nil && key != "" {
		c.BlockSize, err = p.blockSize(key, f.size)
	}
	return c, err
}

// adapted is the length that Dream was trained for. The positions in such a config describe the
// causal language model that the network was before.
const adapted = 2048

// parseQwen reads a config.json with the keys of Qwen's networks; inner is that of the MLP's width.
func parseQwen(p probe, inner string) (Config, error) {
	c := Config{Noise: "loglinear", Epsilon: 1e-6, MaskID: facts.Unknown}
	s := p.root
	s.Need("hidden_size", &c.Hidden)
	s.Need("num_hidden_layers", &c.Blocks)
	s.Need("num_attention_heads", &c.Heads)
	if c.KVHeads = c.Heads; !p.null("num_key_value_heads") { // null: no heads share keys
		s.Need("num_key_value_heads", &c.KVHeads)
	}
	s.Need(inner, &c.Inner)
	s.Need("max_position_embeddings", &c.Positions)
	s.Need("vocab_size", &c.Columns)
	s.May("mask_token_id", &c.MaskID)
	s.May("rms_norm_eps", &c.Epsilon)
	s.May("tie_word_embeddings", &c.Tied)
	c.Tokens, c.Length = c.Columns, min(c.Positions, adapted)
	// Later versions of transformers keep all settings of rotation in one object: rope_scaling, its
	// former name, or rope_parameters if that is empty. A rope_theta beside it may be a default that a
	// version wrote.
	rotation, beside := s.In("rope_parameters"), s.May("rope_theta", &c.RotaryBase)
	if r := s.In("rope_scaling"); len(r.Fields) > 0 {
		rotation = r
	}
	if !rotation.May("rope_theta", &c.RotaryBase) && !beside {
		if c.RotaryBase = 10000; p.class != "LlamaForCausalLM" { // LLaMA's own, which old files lack
			s.Lack("rope_theta")
		}
	}
	if err := c.rotation(rotation); err != nil {
		return c, err
	}
	var layers []string
	s.May("layer_types", &layers)
	if i := slices.IndexFunc(layers, func(t string) bool { return t != "full_attention" }); i >= 0 {
		s.Fail("layer_types has %.40q: only full_attention is read", layers[i])
	}
	if s.May("head_dim", &c.Head) && c.Head < 1 {
		s.Fail("head_dim is %d: must be at least 2", c.Head)
	}
	return c, s.Err()
}
