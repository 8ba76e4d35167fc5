package graph

import (
	"fmt"
)

// normEpsilon is the epsilon of every LayerNorm of MDLM, RADD and SEDD.
const normEpsilon = float32(1e-5)

// ddit is the transformer that MDLM, RADD and SEDD share: pre-norm blocks
// with bidirectional attention, half-split rotary embedding, a GELU MLP, and an
// untied head.
type ddit struct {
	*stream
	cond conditioner
}

func newDDiT(s *stream) layers { return &ddit{s, newConditioner(s.b, s.c)} }

func (d *ddit) block(i int, x string, last bool) string {
	cfg := d.c.Config
	h := cfg.Hidden
	name := fmt.Sprintf("blocks.%d.", i)
	m := d.cond.branch(i, attention)
	a, own := d.once(i, x)
	a = d.norm(normName(i, attention), a, m)
	from, of, at := a, d.ids, d.kept.asked
	if last {
		from, x = d.gather(a), d.gather(x)
		of, at = d.positions, d.kept.wanted
	}
	// The rows of attn_qkv are queries of all heads, then keys, then values.
	qkv := d.c.Tensor(name + "attn_qkv.weight")
	part := func(which int) source { return source{tensor: qkv, first: which * h, rows: h, cols: h} }
	values, out := part(2), d.matrix(name+"attn_out")
	d.b.balance(&values, &out, func(c int) int { return c })
	project := func(w source, suffix, x, of string) string {
		return d.as(own(d.b.product(name+"attn_"+suffix, x, w, nil)), of, h)
	}
	q := d.rotary(i, project(part(0), "q", from, of), at, cfg.Heads)
	k := d.rotary(i, project(part(1), "k", a, d.ids), d.kept.asked, cfg.Heads)
	v := project(values, "v", a, d.ids)
	o := d.attend(i, q, k, v, of)
	if last {
		d.keep(&o, &x)
	}
	x = d.residual(x, d.linear(name+"attn_out", o, out, m.gate, false), m)

	m = d.cond.branch(i, mlp)
	y := d.norm(normName(i, mlp), x, m)
	// FastGelu is the tanh form; it adds the bias in the same pass.
	y = d.linear(name+"mlp.0", y, d.matrix(name+"mlp.0"), nil, false)
	bias := vector(d.c, name+"mlp.0.bias")
	y = d.b.gelu("FastGelu", y, d.b.floats(name+"mlp.0.bias", bias, len(bias)))
	y = d.linear(name+"mlp.2", y, d.matrix(name+"mlp.2"), m.gate, true)
	return d.residual(x, y, m)
}

func (d *ddit) final(x string) string { return d.norm(finalNorm, x, d.cond.final()) }

func (d *ddit) head() (string, source, []float32) {
	const name = "output_layer.linear"
	return name, whole(d.c.Tensor(name + ".weight")), vector(d.c, name+".bias")
}

// modulated applies operators to the stream and values [B, 1, Hidden], one after another.
func (d *ddit) modulated(x string, steps ...[2]string) string {
	h := d.c.Config.Hidden
	if !d.taken {
		x = d.as(x, d.ids, h)
	}
	for _, s := range steps {
		op, v := s[0], s[1]
		if d.taken {
			v = d.b.op("Gather", d.flat(v, h), d.canvases())
		}
		x = d.b.op(op, x, v)
	}
	if !d.taken {
		x = d.flat(x, h)
	}
	return x
}

// norm adds a LayerNorm and its modulation.
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

// linear adds a linear layer. A constant gate is multiplied into matrix and bias if that is free,
// and otherwise into the product.
func (d *ddit) linear(name, x string, w source, gate []float32, bias bool) string {
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

// residual adds a branch to the stream.
func (d *ddit) residual(x, branch string, m modulation) string {
	if m.gateValue != "" {
		branch = d.modulated(branch, [2]string{"Mul", m.gateValue})
	}
	return d.b.op("Add", x, branch)
}
