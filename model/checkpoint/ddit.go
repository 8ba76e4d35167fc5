package checkpoint

import (
	"fmt"
)

// Frequencies is the width of the sinusoidal embedding of σ that MDLM and SEDD share: Frequencies/2
// cosines, then as many sines.
const Frequencies = 256

var dditNaming = naming{Network: DDiT, embedding: "vocab_embed.embedding", parts: []string{"vocab_embed", "sigma_map", "rotary_emb", "blocks", "output_layer"}}

// dditTensors lists the parameters of MDLM, BD3-LM, RADD and SEDD, which
// share one layout: RADD has biases in its norms, others
// have a conditioning network and adaLN modulations instead, which BD3-LM may lack.
func dditTensors(c Config) (l layout) {
	h, conditioned := c.Hidden, c.Conditioned()
	norm := func(name string) { l.norm(name, h, c.Family == RADD) }
	l.add(c.Embedding(), c.Columns, h)
	if conditioned {
		l.linear("sigma_map.mlp.0", c.Cond, Frequencies, true)
		l.linear("sigma_map.mlp.2", c.Cond, c.Cond, true)
	}
	for i := range c.Blocks {
		b := fmt.Sprintf("blocks.%d.", i)
		norm(b + "norm1")
		l.linear(b+"attn_qkv", 3*h, h, false)
		l.linear(b+"attn_out", h, h, false)
		norm(b + "norm2")
		l.linear(b+"mlp.0", 4*h, h, true)
		l.linear(b+"mlp.2", h, 4*h, true)
		if conditioned {
			l.linear(b+"adaLN_modulation", 6*h, c.Cond, true)
		}
	}
	norm("output_layer.norm_final")
	l.linear("output_layer.linear", c.Columns, h, true)
	if conditioned {
		l.linear("output_layer.adaLN_modulation", 2*h, c.Cond, true)
	}
	return l
}
