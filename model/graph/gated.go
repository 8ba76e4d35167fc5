package graph

import (
	"fmt"

	"mdmgen/model/checkpoint"
)

// gated is a transformer like LLaMA's, with bidirectional attention: pre-norm blocks with RMSNorm,
// half-split rotary positions, grouped queries, and an MLP with one branch that gates the other. Others
// with such blocks replace its operators.
type gated struct {
	*stream
	names checkpoint.Names
	// norm adds a norm of rows of width numbers, feed the MLP of block i, and turn the positions of
	// queries or keys.
	norm func(name, x string, width int) string
	feed func(i int, x string) string
	turn func(i int, x, at string, heads int) string
}

func newGated(s *stream) layers {
	d := &gated{stream: s, names: s.c.Config.Names(), turn: s.rotary}
	d.norm, d.feed = d.rms, d.mixtureOrMLP
	return d
}

func (d *gated) block(i int, x string, last bool) string {
	b, cfg, n := d.b, d.c.Config, d.names
	size := cfg.HeadSize()
	a, back := d.once(i, x)
	a = d.norm(n.At(i, n.AttentionNorm), a, cfg.Hidden)
	from, of, at := a, d.ids, d.kept.asked
	if last {
		from, x = d.gather(a), d.gather(x)
		of, at = d.positions, d.kept.wanted
	}
	after := n.At(i, n.AttentionOut)
	out := d.matrix(after)
	first := 0 // row of the next part, if they are one matrix
	project := func(part, norm, x, of string, heads int, to *source) string {
		name := n.At(i, part)
		w, own := d.matrix(name), name
		if n.Queries == n.Keys {
			w.first, w.rows, own = first, heads*size, fmt.Sprintf("%s.%d", name, first)
			first += w.rows
		}
		if to != nil {
			b.balance(&w, to, func(c int) int { return c/size/(cfg.Heads/heads)*size + c%size })
		}
		y := d.part(own, name, x, w, cfg.QKVBias)
		if cfg.HeadNorm && norm != "" {
			y = d.flat(d.norm(n.At(i, norm), d.flat(y, size), size), heads*size)
		}
		return d.as(back(y), of, heads*size)
	}
	q := d.scaled(d.turn(i, project(n.Queries, n.QueryNorm, from, of, cfg.Heads, nil), at, cfg.Heads), at)
	k := d.turn(i, project(n.Keys, n.KeyNorm, a, d.ids, cfg.KeyHeads(), nil), d.kept.asked, cfg.KeyHeads())
	v := project(n.Values, "", a, d.ids, cfg.KeyHeads(), &out)
	o := d.attend(i, q, k, v, of)
	if last {
		d.keep(&o, &x)
	}
	x = b.op("Add", x, d.part(after, after, o, out, cfg.OutBias))

	return b.op("Add", x, d.feed(i, d.norm(n.At(i, n.MLPNorm), x, cfg.Hidden)))
}

func (d *gated) mixtureOrMLP(i int, x string) string {
	if d.c.Config.Experts.In(i) {
		return d.mixture(i, x)
	}
	return d.mlp(x, d.names.MLP(i))
}

// mlp adds a gated MLP.
func (d *gated) mlp(x string, n checkpoint.MLP) string {
	wide, narrow := d.matrix(n.Up), d.matrix(n.Down)
	d.b.balance(&wide, &narrow, func(c int) int { return c })
	gate, up := d.linear(n.Gate, x, false), d.part(n.Up, n.Up, x, wide, false)
	// QuickGelu is x·sigmoid(αx): SiLU if α is 1.
	gate = d.b.node(microsoft, "QuickGelu", attrs{{"alpha", float32(1)}}, gate)
	return d.part(n.Down, n.Down, d.b.innerOf(d.b.op("Mul", gate, up), zero8), narrow, false)
}

func (d *gated) final(x string) string { return d.norm(d.names.FinalNorm, x, d.c.Config.Hidden) }

func (d *gated) head() (string, source, []float32) {
	name := d.names.Head
	if d.c.Config.Tied {
		name = d.names.Embedding
	}
	return name, whole(d.c.Tensor(name + ".weight")), nil
}

// rms adds an RMSNorm of rows of width numbers, x/√(mean x² + ε)·w. The runtime makes one operator of
// these six, its own SimplifiedLayerNormalization, which ONNX's checker rejects in a file. Those that
// it accepts are worse: the norm of a sum in com.microsoft adds squares one by one in float32, and with
// opset 23, which has RMSNormalization, CUDA has no ReduceMax, Pad and Scan.
func (d *gated) rms(name, x string, width int) string {
	w := d.b.floats(name+".weight", vector(d.c, name+".weight"), width)
	b := d.b
	mean := b.node("", "ReduceMean", attrs{{"axes", []int{-1}}}, b.op("Pow", x, b.floats("two", []float32{2})))
	size := b.op("Sqrt", b.op("Add", mean, b.floats("epsilon", []float32{float32(d.c.Config.Epsilon)})))
	return b.op("Mul", b.op("Div", x, size), w)
}
