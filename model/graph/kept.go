package graph

import (
	"fmt"
	"math"

	"mdmgen/model/internal/onnxpb"
)

// KeptTensors returns the names of a block's keys and values: the inputs for all positions, and the
// outputs for the rows of input_ids.
func KeptTensors(block int) (in, out [2]string) {
	at := func(name string) string { return fmt.Sprintf("%s.%d", name, block) }
	return [2]string{at("kept_keys"), at("kept_values")}, [2]string{at("keys"), at("values")}
}

// kept holds the inputs for kept keys and values that all blocks share, and the values derived from
// them. A graph that keeps nothing has only the first two.
type kept struct {
	asked   string // [B, Q]: the positions of input_ids, or [1]: the first of them
	wanted  string // [B, K]: the positions of the wanted rows
	stale   string // [B, 1, 1, P]: 0, or −∞ if a position is in asked
	emitted string // whether keys and values are wanted
	parts   string // [2]: P and Q
	noisy   string // [1]: 1 for a noisy copy of a clean canvas, in a block-causal network
}

// keptInputs adds the inputs of kept.
func (d *stream) keptInputs() {
	b, k := d.b, &d.kept
	if !d.keeps {
		k.asked, k.wanted = b.ints("zero", 0), d.positions
		return
	}
	k.asked = b.input("position_ids", onnxpb.Int64, "batch", "length")
	k.wanted = b.node("", "GatherND", attrs{{"batch_dims", 1}}, k.asked, d.index)
	k.stale = b.input("stale", onnxpb.Float, "sets", 1, 1, "past")
	// As a size it is known to the CPU, which chooses the branch.
	k.emitted = b.op("Greater", b.op("Size", b.input("keep", onnxpb.Int64, "any")), b.count("no_position", 0))
	k.parts = b.input("parts", onnxpb.Int64, 2)
	if d.blockSize > 0 {
		k.noisy = b.input("noisy", onnxpb.Int64, 1)
	}
}

// keptOutputs adds the fresh keys and values.
func (d *stream) keptOutputs() {
	if !d.keeps {
		return
	}
	for block := range d.c.Config.Blocks {
		_, out := KeptTensors(block)
		for _, name := range out {
			r := d.freshKeys()
			d.b.give(name, r.elem, r.dims...)
		}
	}
}

// freshKeys returns the type of keys or values of the rows of input_ids, which are empty if they
// are not wanted.
func (d *stream) freshKeys() result {
	return result{elem: onnxpb.Float, dims: []onnxpb.Dim{"sets", d.c.Config.KeyHeads(), "fresh", d.c.Config.HeadSize()}}
}

// attend adds attention, bidirectional or to a block and those before it, of queries [B, n,
// heads·HeadSize] at the positions named by of (d.ids or d.positions), to keys and values [B, Q,
// KeyHeads·HeadSize] of a block. It returns [B·n, heads·HeadSize].
//
// If several query heads share a head of keys, they are passed as more positions: attention treats
// each query separately, so keys and values need not be repeated.
//
// A call of a graph that keeps is one of three: with nothing kept, with fresh keys and values as
// outputs, or with kept ones of other positions as well. Each has its own branch.
func (d *stream) attend(block int, q, k, v, of string) string {
	b, cfg := d.b, d.c.Config
	size, heads := cfg.HeadSize(), cfg.KeyHeads()
	width, group := cfg.Heads*size, cfg.Heads/heads
	if group > 1 && heads > 1 {
		q = d.swap(q, heads, group)
	}
	if group > 1 {
		q = b.op("Reshape", q, b.ints("shape_grouped", 0, -1, int64(heads*size)))
	}
	x := d.attended(block, q, k, v, of, group)
	if group > 1 {
		x = d.as(x, of, width)
	}
	if group > 1 && heads > 1 {
		x = d.swap(x, group, heads)
	}
	return d.flat(x, width)
}

// attended adds attention of grouped queries.
func (d *stream) attended(block int, q, k, v, of string, group int) string {
	unseen, unseenKept := d.unseen(block, of, group)
	if !d.keeps {
		return d.alone(q, k, v, unseen)
	}
	b, cfg := d.b, d.c.Config
	size, heads := cfg.HeadSize(), cfg.KeyHeads()
	in, out := KeptTensors(block)
	queries := "length"
	if of == d.positions {
		queries = "wanted"
	}
	if group > 1 {
		queries = "grouped_" + queries
	}
	// The runtime assigns the same memory to values of shapes with the same names.
	results := []result{{elem: onnxpb.Float, dims: []onnxpb.Dim{"batch", queries, heads * size}}}
	for _, name := range in {
		b.input(name, onnxpb.Float, "sets", heads, "past", size)
		results = append(results, d.freshKeys())
	}
	o := d.choose(d.kept.emitted, results, func() []string {
		used := b.op("Greater", b.op("Size", d.kept.stale), b.count("no_position", 0))
		return d.choose(used, results, func() []string {
			return d.beside(q, k, v, in, unseen, unseenKept)
		}, func() []string {
			return []string{d.alone(q, k, v, unseen), d.split(k), d.split(v)}
		})
	}, func() []string {
		all := []string{d.alone(q, k, v, unseen)}
		for _, name := range out {
			all = append(all, b.nothing("no_"+name, onnxpb.Float, 1, heads, 0, size))
		}
		return all
	}, "", out[0], out[1])
	return o[0]
}

// alone adds attention to fresh keys and values. unseen, which may be "", hides some.
func (d *stream) alone(q, k, v, unseen string) string {
	b := d.b
	if b.half {
		q, k, v = b.narrow(q), b.narrow(k), b.narrow(v)
	}
	in := []string{q, k, v}
	if unseen != "" {
		in = append(in, "", "", unseen)
		if b.half {
			in[5] = b.narrow(unseen)
		}
	}
	o := b.node(microsoft, "MultiHeadAttention", attrs{{"num_heads", d.c.Config.KeyHeads()}}, in...)
	if b.half {
		o = b.wide(o)
	}
	return o
}

// beside adds attention to kept and fresh keys and values together, and returns its result with the
// fresh ones. The kept ones are not copied: the scores of both form one row of the softmax.
func (d *stream) beside(q, k, v string, in [2]string, unseen, unseenKept string) []string {
	b, cfg := d.b, d.c.Config
	q, k, v = d.split(q), d.split(k), d.split(v)
	by := attrs{{"alpha", float32(1 / math.Sqrt(float64(cfg.HeadSize())))}, {"transB", 1}}
	old, fresh := b.op("Add", b.node(microsoft, "FusedMatMul", by, q, in[0]), d.kept.stale), b.node(microsoft, "FusedMatMul", by, q, k)
	if unseen != "" {
		old, fresh = b.op("Add", old, unseenKept), b.op("Add", fresh, unseen)
	}
	scores := b.node("", "Concat", attrs{{"axis", -1}}, old, fresh)
	part := b.nodeN("", "Split", attrs{{"axis", -1}}, 2, b.node("", "Softmax", attrs{{"axis", -1}}, scores), d.kept.parts)
	o := b.op("Add", b.node(microsoft, "FusedMatMul", nil, part[0], in[1]), b.node(microsoft, "FusedMatMul", nil, part[1], v))
	o = b.op("Reshape", d.byHead(o), b.ints("shape_joined", 0, 0, int64(cfg.KeyHeads()*cfg.HeadSize())))
	return []string{o, k, v}
}

// split reshapes [B, n, heads·HeadSize] to [B, heads, n, HeadSize].
func (d *stream) split(x string) string {
	cfg := d.c.Config
	return d.byHead(d.b.op("Reshape", x, d.b.ints("shape_split", 0, 0, int64(cfg.KeyHeads()), int64(cfg.HeadSize()))))
}

// byHead swaps the second and third of four dimensions.
func (d *stream) byHead(x string) string {
	return d.b.node("", "Transpose", attrs{{"perm", []int{0, 2, 1, 3}}}, x)
}
