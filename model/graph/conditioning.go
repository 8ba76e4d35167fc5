package graph

import (
	"fmt"
	"math"

	"mdmgen/model/checkpoint"
	"mdmgen/model/internal/onnxpb"
)

// modulation is the norm and gate around one branch of the residual stream, attention or MLP, or
// the norm before the head:
//
//	branch(LN(x)·weight·(1 + scale) + shift)·gate
//
// Constants are vectors of Hidden numbers; values of the graph are names of tensors [B, 1, Hidden].
// A nil or empty field is absent.
type modulation struct {
	weight []float32 // of the norm, times 1 + scale if that is constant
	bias   []float32 // of the norm: a constant shift, or RADD's own bias
	gate   []float32

	scale1, shift, gateValue string // 1 + scale, shift, gate
}

// The branches of a block, in the order of their modulations.
const (
	attention = iota
	mlp
)

// conditioner computes how a family modulates its branches.
type conditioner interface {
	branch(block, which int) modulation
	final() modulation
}

// newConditioner makes the conditioner of a network. Upstream feeds an MDLM network (Sahoo et al., arXiv
// 2406.07524) that is not time-conditioned σ = 0, whatever the time; SEDD's (Lou et al., arXiv 2310.16834) always
// has the true σ. RADD's (Ou et al., arXiv 2406.03736) has no notion of time, and BD3-LM's may have none.
//
// Rows hold raw logits. Upstream's forward() of RADD takes the log-softmax of all columns but the mask's, and its
// log-scores of SEDD are logits − log(expm1 σ) − log(V−1) where scale_by_sigma is set, and 0 at the input token. That is left to
// the reader of the row, because it moves no softmax over the clean tokens of a masked position.
func newConditioner(b *builder, c *checkpoint.Checkpoint) conditioner {
	switch {
	case !c.Config.Conditioned():
		return unconditioned{c}
	case c.Config.TimeConditioned:
		return newTimed(b, c)
	}
	return newConstantly(c)
}

// normName returns the norm before a branch.
func normName(block, which int) string { return fmt.Sprintf("blocks.%d.norm%d", block, which+1) }

const finalNorm = "output_layer.norm_final"

// constantly is the conditioner of a network whose σ is the constant 0: an MDLM network without
// time conditioning. Its conditioning vector is constant but not zero; everything derived from it
// is evaluated here in float64.
type constantly struct {
	c    *checkpoint.Checkpoint
	cond []float64
}

func newConstantly(c *checkpoint.Checkpoint) constantly {
	// The embedding of σ = 0: cos 0 = 1, then sin 0 = 0.
	emb := make([]float64, checkpoint.Frequencies)
	for i := range checkpoint.Frequencies / 2 {
		emb[i] = 1
	}
	hidden := silu(affine(c, "sigma_map.mlp.0", emb, 0, c.Config.Cond))
	return constantly{c, silu(affine(c, "sigma_map.mlp.2", hidden, 0, c.Config.Cond))}
}

func (k constantly) branch(block, which int) modulation {
	// One linear map returns shift, scale and gate of attention, then of the MLP.
	h := k.c.Config.Hidden
	v := affine(k.c, fmt.Sprintf("blocks.%d.adaLN_modulation", block), k.cond, 3*h*which, 3*h)
	m := k.norm(normName(block, which), v[:h], v[h:2*h])
	m.gate = narrow(v[2*h : 3*h])
	return m
}

func (k constantly) final() modulation {
	h := k.c.Config.Hidden
	v := affine(k.c, "output_layer.adaLN_modulation", k.cond, 0, 2*h)
	return k.norm(finalNorm, v[:h], v[h:])
}

func (k constantly) norm(name string, shift, scale []float64) modulation {
	w := vector(k.c, name+".weight")
	for i := range w {
		w[i] = float32(float64(w[i]) * (1 + scale[i]))
	}
	return modulation{weight: w, bias: narrow(shift)}
}

// affine returns n numbers of Wx + b, starting at first, of a linear layer in float64.
func affine(c *checkpoint.Checkpoint, name string, x []float64, first, n int) []float64 {
	b := vector(c, name+".bias")[first : first+n]
	w := c.Tensor(name + ".weight")
	row := make([]float32, len(x))
	y := make([]float64, len(b))
	for i := range y {
		w.Widen(row, (first+i)*len(x))
		sum := float64(b[i])
		for j, v := range x {
			sum += float64(row[j]) * v
		}
		y[i] = sum
	}
	return y
}

// silu computes x/(1 + e^−x) in place.
func silu(x []float64) []float64 {
	for i, v := range x {
		x[i] = v / (1 + math.Exp(-v))
	}
	return x
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

// timed is the conditioner of a network that reads σ.
type timed struct {
	c    *checkpoint.Checkpoint
	b    *builder
	cond string           // [B, Cond], SiLU applied
	of   map[int][]string // modulations of a block, made once
}

// newTimed embeds sigma [B]: cosines of σ·ω, then sines, with ω_k = 10000^(−k/half), and two linear
// layers with SiLU. The angles are float32, as upstream's; everything else up to the conditioning
// vector is float64: it is only a few thousand numbers, and every row's error grows with theirs.
func newTimed(b *builder, c *checkpoint.Checkpoint) timed {
	const half = checkpoint.Frequencies / 2
	omega := make([]float32, half)
	for k := range omega {
		omega[k] = float32(math.Exp(-math.Log(10000) * float64(k) / half))
	}
	sigma := b.input("sigma", onnxpb.Float, "batch")
	column := b.op("Reshape", sigma, b.ints("shape_column", -1, 1))
	angle := b.op("Mul", column, b.floats("sigma_frequencies", omega, 1, half))
	angle = b.node("", "Cast", attrs{{"to", onnxpb.Double}}, angle)
	x := b.node("", "Concat", attrs{{"axis", 1}}, b.op("Cos", angle), b.op("Sin", angle))
	one := b.doubles("one_double", []float32{1}, 1)
	for _, name := range []string{"sigma_map.mlp.0", "sigma_map.mlp.2"} {
		w := c.Tensor(name + ".weight")
		x = b.node("", "Gemm", attrs{{"transB", 1}}, x,
			b.doubles(name+".weight", vector(c, name+".weight"), w.Shape...), b.doubles(name+".bias", vector(c, name+".bias"), w.Shape[0]))
		// SiLU as x/(1 + e^−x): the runtime fuses x·Sigmoid(x) into an operator that it lacks for
		// float64.
		x = b.op("Div", x, b.op("Add", b.op("Exp", b.op("Neg", x)), one))
	}
	return timed{c: c, b: b, of: map[int][]string{}, cond: b.node("", "Cast", attrs{{"to", onnxpb.Float}}, x)}
}

// linear applies a layer to the conditioning vectors.
func (t timed) linear(name string) string {
	return t.b.gemm(name, t.cond, whole(t.c.Tensor(name+".weight")), vector(t.c, name+".bias"))
}

// chunks applies a modulation layer and cuts it into n values [B, 1, Hidden].
func (t timed) chunks(name string, n int) []string {
	wide := t.b.op("Reshape", t.linear(name), t.b.ints(fmt.Sprintf("shape_chunks_%d", n), -1, int64(n), int64(t.c.Config.Hidden)))
	return t.b.nodeN("", "Split", attrs{{"axis", 1}}, n, wide)
}

func (t timed) branch(block, which int) modulation {
	if t.of[block] == nil {
		t.of[block] = t.chunks(fmt.Sprintf("blocks.%d.adaLN_modulation", block), 6)
	}
	v := t.of[block][3*which:]
	m := t.norm(normName(block, which), v[0], v[1])
	m.gateValue = v[2]
	return m
}

func (t timed) final() modulation {
	v := t.chunks("output_layer.adaLN_modulation", 2)
	return t.norm(finalNorm, v[0], v[1])
}

func (t timed) norm(name, shift, scale string) modulation {
	one := t.b.floats("one", []float32{1}, 1)
	return modulation{weight: vector(t.c, name+".weight"), shift: shift, scale1: t.b.op("Add", scale, one)}
}

// unconditioned is the conditioner of RADD, with norms with bias and no gates, and of a BD3-LM
// network without adaLN, which has no bias either.
type unconditioned struct{ c *checkpoint.Checkpoint }

func (u unconditioned) branch(block, which int) modulation { return u.norm(normName(block, which)) }
func (u unconditioned) final() modulation                  { return u.norm(finalNorm) }

func (u unconditioned) norm(name string) modulation {
	m := modulation{weight: vector(u.c, name+".weight")}
	if u.c.Config.Family == checkpoint.RADD {
		m.bias = vector(u.c, name+".bias")
	}
	return m
}
