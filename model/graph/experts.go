package graph

import (
	"fmt"
	"slices"

	"mdmgen/model/checkpoint"
)

// mixture adds the mixture of experts of block i to rows x [n, Hidden]; [checkpoint.Experts] says
// what it computes.
//
// The runtime's operator takes the experts with the greatest inputs of a row, and their weights are
// the softmax over these inputs. It takes the last of equal ones, and with 4 bits it always divides by
// the sum of the weights. So the graph itself chooses, and passes the logarithms of the chosen scores,
// and −∞ for the others: their softmax is the scores divided by their sum. Where that is not wanted
// the outputs are multiplied by it.
func (d *gated) mixture(i int, x string) string {
	b, n, m := d.b, d.names, d.c.Config.Experts
	last := attrs{{"axis", -1}}
	r := b.gemm(n.Router(i), x, whole(d.c.Tensor(n.Router(i)+".weight")), nil)
	var logs, choice string
	if m.Sigmoid {
		logs, choice = b.op("Neg", b.op("Softplus", b.op("Neg", r))), b.op("Sigmoid", r)
	} else {
		logs, choice = b.node("", "LogSoftmax", last, r), r
	}
	if m.Biased {
		choice = b.op("Add", choice, b.floats(n.RouterBias(i), vector(d.c, n.RouterBias(i)), m.Count))
	}
	if m.Groups > 1 && m.GroupsChosen < m.Groups {
		choice = d.inBestGroups(choice)
	}
	chosen := b.nodeN("", "TopK", last, 2, choice, b.ints("experts_chosen", int64(m.Chosen)))[1]
	logs = b.node("", "GatherElements", last, logs, chosen)
	none := b.op("Expand", b.floats("no_logit", []float32{minusInf}), b.op("Shape", r))
	y := d.experts(i, x, b.node("", "ScatterElements", last, none, chosen, logs))
	if m.Raw {
		y = b.op("Mul", y, b.op("ReduceSum", b.op("Exp", logs), b.ints("last_axis", -1)))
	}
	if m.Factor != 1 {
		y = b.op("Mul", y, b.floats("experts_factor", []float32{float32(m.Factor)}))
	}
	if m.Shared > 0 {
		y = b.op("Add", y, d.mlp(x, n.Expert(i, checkpoint.Shared)))
	}
	return y
}

// inBestGroups returns scores [n, Count], with −∞ for experts outside the best groups.
func (d *gated) inBestGroups(choice string) string {
	b, m := d.b, d.c.Config.Experts
	last, size := attrs{{"axis", -1}}, m.Count/m.Groups
	groups := b.op("Reshape", choice, b.ints("shape_groups", -1, int64(m.Groups), int64(size)))
	two := b.nodeN("", "TopK", last, 2, groups, b.ints("best_of_group", int64(min(2, size))))[0]
	sums := b.node("", "ReduceSum", attrs{{"keepdims", 0}}, two, b.ints("last_axis", -1))
	best := b.nodeN("", "TopK", last, 2, sums, b.ints("groups_chosen", int64(m.GroupsChosen)))
	none := b.op("Expand", b.floats("no_logit", []float32{minusInf}), b.op("Shape", sums))
	zeros := b.op("Sub", best[0], best[0])
	marks := b.op("Unsqueeze", b.node("", "ScatterElements", last, none, best[1], zeros), b.ints("last_axis", -1))
	return b.op("Reshape", b.op("Add", groups, marks), b.ints("shape_experts", -1, int64(m.Count)))
}

// experts adds the sum of the outputs of experts of block i, with logs [n, Count], the logarithms of
// the weights of each row.
func (d *gated) experts(i int, x, logs string) string {
	b, m := d.b, d.c.Config.Experts
	// The operator takes gate and up as one matrix, whose rows alternate.
	in := source{experts: make([][]source, m.Count), rows: m.Count * 2 * m.Inner, cols: d.c.Config.Hidden}
	out := source{experts: make([][]source, m.Count), rows: m.Count * d.c.Config.Hidden, cols: m.Inner}
	for e := range m.Count {
		l := d.names.Expert(i, e)
		in.experts[e] = []source{whole(d.c.Tensor(l.Gate + ".weight")), whole(d.c.Tensor(l.Up + ".weight"))}
		out.experts[e] = []source{whole(d.c.Tensor(l.Down + ".weight"))}
	}
	a := attrs{{"k", m.Chosen}, {"activation_type", "swiglu"}, {"swiglu_fusion", 1}, {"activation_alpha", float32(1)}, {"activation_beta", float32(0)}, {"normalize_routing_weights", 1}}
	name := d.names.At(i, "mlp.experts.")
	if !b.dtype.four() {
		return b.node(microsoft, "MoE", a, x, logs, b.matrix(name+"in", in), "", b.matrix(name+"out", out))
	}
	block := 64 // Scales of fewer weights are a tenth of a large model more.
	if m.Inner%block != 0 || d.c.Config.Hidden%block != 0 {
		block = tableBlock4
	}
	a = slices.Concat(a, attrs{{"expert_weight_bits", 4}, {"block_size", block}}, b.dtype.accuracy())
	w1, s1 := b.joined4(name+"in", in, block)
	w2, s2 := b.joined4(name+"out", out, block)
	return b.node(microsoft, "QMoE", a, x, logs, w1, s1, "", w2, s2)
}

// expertsIn returns an error if a network's experts cannot be of a type. In 8 bits the runtime rounds
// the rows that experts take to 8 bits as well, an error of 1%; the blocks of 4 bits must be whole.
func expertsIn(d Dtype, c checkpoint.Config) error {
	m := c.Experts
	switch {
	case m.Count == 0:
	case d == Int8:
		return fmt.Errorf("dtype int8: ONNX Runtime computes experts of 8 bits with an error of 1%%: use %s", Int4)
	case d.four() && (m.Inner%tableBlock4 != 0 || c.Hidden%tableBlock4 != 0):
		return fmt.Errorf("dtype %s: experts of %d by %d numbers: both must be multiples of %d", d, c.Hidden, m.Inner, tableBlock4)
	}
	return nil
}

// allInFour reports whether with 4 bits the embedding is in 4 bits too, and the head as other layers are. In a
// network with experts they are as large as all that a position passes through, and in one with causal rows,
// which are few in a call, they are read whole for them. Elsewhere they are in float32, because errors of the
// head show directly in logits.
func allInFour(c checkpoint.Config) bool {
	return c.Experts.Count > 0 || c.Causal && c.Hidden%tableBlock4 == 0
}
