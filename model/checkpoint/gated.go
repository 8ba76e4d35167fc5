package checkpoint

import (
	"fmt"
)

// Names holds the names of the linear layers and norms of a [Gated] network, without ".weight" and
// ".bias". Those in a block are appended to Block, in which %d is the block's number.
type Names struct {
	Embedding, Block       string
	AttentionNorm, MLPNorm string
	// Queries, Keys and Values may be one matrix, with the rows of queries first and of values last.
	Queries, Keys, Values string
	QueryNorm, KeyNorm    string // "" if there are none
	AttentionOut          string
	Gate, Up, Down        string // Gate and Up may be one matrix; Gate is "" if nothing gates Up
	FinalNorm, Head       string
}

// At returns the name of a part of block i.
func (n Names) At(i int, part string) string { return fmt.Sprintf(n.Block, i) + part }

// qwenNaming is that of Qwen's networks, and of Dream's.
var qwenNaming = naming{
	Network: Gated, embedding: "embed_tokens.weight", parts: []string{"embed_tokens", "layers", "norm", "lm_head"},
	names: Names{
		Embedding: "embed_tokens", Block: "layers.%d.",
		AttentionNorm: "input_layernorm", MLPNorm: "post_attention_layernorm",
		Queries: "self_attn.q_proj", Keys: "self_attn.k_proj", Values: "self_attn.v_proj",
		QueryNorm: "self_attn.q_norm", KeyNorm: "self_attn.k_norm",
		AttentionOut: "self_attn.o_proj",
		Gate:         "mlp.gate_proj", Up: "mlp.up_proj", Down: "mlp.down_proj",
		FinalNorm: "norm", Head: "lm_head",
	},
}

// gatedTensors lists the parameters of a [Gated] network.
func gatedTensors(c Config) (l layout) {
	n := c.Names()
	h, size := c.Hidden, c.HeadSize()
	queries, keys := c.Heads*size, c.KeyHeads()*size
	l.linear(n.Embedding, c.Columns, h, false)
	for i := range c.Blocks {
		at := func(part string) string { return n.At(i, part) }
		l.add(at(n.AttentionNorm)+".weight", h)
		if n.Queries == n.Keys {
			l.linear(at(n.Queries), queries+2*keys, h, c.QKVBias)
		} else {
			l.linear(at(n.Queries), queries, h, c.QKVBias)
			l.linear(at(n.Keys), keys, h, c.QKVBias)
			l.linear(at(n.Values), keys, h, c.QKVBias)
		}
		if c.HeadNorm {
			l.add(at(n.QueryNorm)+".weight", size)
			l.add(at(n.KeyNorm)+".weight", size)
		}
		l.linear(at(n.AttentionOut), h, queries, c.OutBias)
		l.add(at(n.MLPNorm)+".weight", h)
		if c.Experts.In(i) {
			l.experts(c, i)
		} else {
			l.mlp(n.MLP(i), c.Inner, h)
		}
	}
	l.add(n.FinalNorm+".weight", h)
	if !c.Tied {
		l.linear(n.Head, c.Columns, h, false)
	}
	return l
}
