package graph

import (
	"fmt"
	"math"

	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
)

// normEpsilon is the epsilon of every LayerNorm of the three families.
const normEpsilon = float32(1e-5)

// ddit builds the transformer that MDLM, RADD and SEDD share: pre-norm blocks
// with bidirectional attention, half-split rotary embedding, a GELU MLP, and an
// untied head. The residual stream is a matrix [B·L, Hidden], or [N, Hidden] once
// the rows that heads take are gathered.
type ddit struct {
	c    *checkpoint.Checkpoint
	b    *builder
	cond conditioner

	ids, positions string // positions is "" where all are wanted
	// Shapes of the residual stream as [B, L, Hidden] and [B, K, Hidden].
	all, wanted string
	index       string // positions as indices of GatherND, [B, K, 1]
	take        string // [N]: which of the B·K wanted rows the heads take
	canvas      string // see canvases
	taken       bool   // the stream has these rows
	zero        string // [1]: rotary positions count from 0
	cos, sin    string // [Length, HeadSize/2]
	// Embeddings of ids without repetition, and for each position which of them
	// is its own; empty where the first block computes each position by itself.
	distinct, inverse string
}

// build adds the whole network to the builder. With full it has no inputs but canvases
// and gives the rows of all positions; else it has heads, and f tells what they take for
// tokens.
func (d *ddit) build(full bool, f facts.Facts) {
	cfg, b := d.c.Config, d.b
	h := int64(cfg.Hidden)
	d.ids = b.input("input_ids", elemInt64, "batch", "length")
	hidden := b.ints("hidden", h)
	d.all = b.node("", "Concat", attrs{{"axis", 0}}, b.op("Shape", d.ids), hidden)
	var heads *heads
	if !full {
		d.positions = b.input("positions", elemInt64, "batch", "wanted")
		d.wanted = b.node("", "Concat", attrs{{"axis", 0}}, b.op("Shape", d.positions), hidden)
		d.index = b.op("Unsqueeze", d.positions, b.ints("last_axis", -1))
		heads = d.inputs()
	}
	d.zero = b.ints("zero", 0)
	d.rotaryTables()

	x := d.embed(!full)
	for i := range cfg.Blocks {
		x = d.block(i, x, i == cfg.Blocks-1 && !full)
	}
	x = d.norm(finalNorm, x, d.cond.final())
	if full {
		b.output("logits", d.head(b.op("Reshape", x, d.all)), elemFloat, "batch", "length", cfg.Columns)
		return
	}
	d.outputs(heads, x, f)
}

// foldedTables is the size in bytes up to which the first block's queries, keys
// and values are kept for every id of the vocabulary.
const foldedTables = 16 << 20

// embed gives the residual stream before the first block.
//
// The first block's queries, keys and values depend on the id alone until they
// are rotated. Where share is set, and no time of a canvas enters the norm, they
// are computed once an id: of a small vocabulary, for all ids when the runtime
// folds constants; else for the distinct ones on the canvases, which are few,
// because most positions are MASK while a canvas is being filled.
func (d *ddit) embed(share bool) string {
	b, cfg := d.b, d.c.Config
	table := b.matrix("vocab_embed.embedding", whole(d.c.Tensor("vocab_embed.embedding")))
	line := b.op("Reshape", d.ids, b.ints("shape_line", -1))
	switch {
	case !share || cfg.TimeConditioned || cfg.Blocks == 1:
		return b.op("Gather", table, line)
	case 4*3*cfg.Columns*cfg.Hidden <= foldedTables:
		d.distinct, d.inverse = table, line
	default:
		u := b.nodeN("", "Unique", attrs{{"sorted", 0}}, 3, line)
		d.distinct, d.inverse = b.op("Gather", table, u[0]), u[2]
	}
	return b.op("Gather", d.distinct, d.inverse)
}

// block adds block i. In the last one the stream leaves with the taken rows only:
// nothing after attention's keys and values looks at others, and nothing after
// attention at wanted rows that no head takes.
func (d *ddit) block(i int, x string, last bool) string {
	h := d.c.Config.Hidden
	name := fmt.Sprintf("blocks.%d.", i)
	shared := i == 0 && d.distinct != ""
	m := d.cond.branch(i, attention)
	a := x
	if shared {
		a = d.distinct
	}
	a = d.norm(normName(i, attention), a, m)
	from, shape, at := a, d.all, d.zero
	if last {
		from, x = d.gather(a), d.gather(x)
		shape, at = d.wanted, d.positions
	}
	// The rows of attn_qkv are queries of all heads, then keys, then values.
	qkv := d.c.Tensor(name + "attn_qkv.weight")
	project := func(which int, suffix, x, shape string) string {
		y := d.b.product(name+"attn_"+suffix, x, source{tensor: qkv, first: which * h, rows: h, cols: h}, nil)
		if shared {
			y = d.b.op("Gather", y, d.inverse)
		}
		return d.b.op("Reshape", y, shape)
	}
	q := d.rotary(project(0, "q", from, shape), at)
	k := d.rotary(project(1, "k", a, d.all), d.zero)
	v := project(2, "v", a, d.all)
	o := d.flat(d.b.node(microsoft, "MultiHeadAttention", attrs{{"num_heads", d.c.Config.Heads}}, q, k, v))
	if last {
		o, x, d.taken = d.b.op("Gather", o, d.take), d.b.op("Gather", x, d.take), true
	}
	x = d.residual(x, d.linear(name+"attn_out", o, m.gate, false), m)

	m = d.cond.branch(i, mlp)
	y := d.norm(normName(i, mlp), x, m)
	// FastGelu is the tanh form; it adds the bias on its one pass.
	y = d.linear(name+"mlp.0", y, nil, false)
	bias := vector(d.c, name+"mlp.0.bias")
	y = d.b.node(microsoft, "FastGelu", nil, y, d.b.floats(name+"mlp.0.bias", bias, len(bias)))
	y = d.linear(name+"mlp.2", y, m.gate, true)
	return d.residual(x, y, m)
}

// flat gives a tensor [B, n, Hidden] as a matrix.
func (d *ddit) flat(x string) string {
	return d.b.op("Reshape", x, d.b.ints("shape_flat", -1, int64(d.c.Config.Hidden)))
}

// gather takes the wanted rows of the stream.
func (d *ddit) gather(x string) string {
	return d.flat(d.b.node("", "GatherND", attrs{{"batch_dims", 1}}, d.b.op("Reshape", x, d.all), d.index))
}

// modulated applies an operator to the stream and values [B, 1, Hidden], one after
// another.
func (d *ddit) modulated(x string, steps ...[2]string) string {
	if !d.taken {
		x = d.b.op("Reshape", x, d.all)
	}
	for _, s := range steps {
		op, v := s[0], s[1]
		if d.taken {
			v = d.b.op("Gather", d.flat(v), d.canvases())
		}
		x = d.b.op(op, x, v)
	}
	if !d.taken {
		x = d.flat(x)
	}
	return x
}

// canvases says which canvas each taken row is of.
func (d *ddit) canvases() string {
	if d.canvas == "" {
		b := d.b
		d.canvas = b.op("Div", d.take, b.op("Gather", b.op("Shape", d.positions), b.count("one_position", 1)))
	}
	return d.canvas
}

// norm adds a LayerNorm and what modulates it.
func (d *ddit) norm(name, x string, m modulation) string {
	h := d.c.Config.Hidden
	in := []string{x, d.b.floats(name+".weight", m.weight, h)}
	if m.bias != nil {
		in = append(in, d.b.floats(name+".bias", m.bias, h))
	}
	y := d.b.node("", "LayerNormalization", attrs{{"axis", -1}, {"epsilon", normEpsilon}}, in...)
	if m.shift != "" {
		y = d.modulated(y, [2]string{"Mul", m.scale1}, [2]string{"Add", m.shift})
	}
	return y
}

// linear adds a linear layer. A constant gate is multiplied into matrix and bias where
// that is free, and otherwise into the product.
func (d *ddit) linear(name, x string, gate []float32, bias bool) string {
	w := whole(d.c.Tensor(name + ".weight"))
	fold := gate != nil && d.b.scaled
	if fold {
		w.scale = gate
	}
	var v []float32
	if bias {
		v = vector(d.c, name+".bias")
		if fold {
			for i := range v {
				v[i] *= gate[i]
			}
		}
	}
	y := d.b.product(name, x, w, v)
	if gate != nil && !fold {
		y = d.b.op("Mul", y, d.b.floats(name+".gate", gate, len(gate)))
	}
	return y
}

// headName is the last linear layer.
const headName = "output_layer.linear"

// head maps rows [n, Hidden] or [B, n, Hidden] to logits. Not a Gemm: that gives a
// matrix, and giving it its third dimension copies all of it once more, on one thread.
func (d *ddit) head(x string) string {
	w := d.b.matrix(headName+".weight", whole(d.c.Tensor(headName+".weight")))
	bias := vector(d.c, headName+".bias")
	y := d.b.node(microsoft, "FusedMatMul", attrs{{"transB", 1}}, x, w)
	return d.b.op("Add", y, d.b.floats(headName+".bias", bias, len(bias)))
}

// residual adds a branch to the stream.
func (d *ddit) residual(x, branch string, m modulation) string {
	if m.gateValue != "" {
		branch = d.modulated(branch, [2]string{"Mul", m.gateValue})
	}
	return d.b.op("Add", x, branch)
}

// rotary rotates queries or keys [B, n, Hidden] by their positions.
func (d *ddit) rotary(x, at string) string {
	return d.b.node(microsoft, "RotaryEmbedding", attrs{{"num_heads", d.c.Config.Heads}}, x, at, d.cos, d.sin)
}

// rotaryTables adds cos and sin of position·ω_j, which turn
// pair (j, j + HeadSize/2) of a head. Upstream's tables are products of float32
// numbers: so are these.
func (d *ddit) rotaryTables() {
	cfg := d.c.Config
	half := cfg.HeadSize() / 2
	cos := make([]float32, cfg.Length*half)
	sin := make([]float32, cfg.Length*half)
	for j, freq := range d.c.RotaryFrequencies() {
		for p := range cfg.Length {
			angle := float64(float32(p) * freq)
			cos[p*half+j], sin[p*half+j] = float32(math.Cos(angle)), float32(math.Sin(angle))
		}
	}
	d.cos = d.b.floats("rotary_cos", cos, cfg.Length, half)
	d.sin = d.b.floats("rotary_sin", sin, cfg.Length, half)
}
