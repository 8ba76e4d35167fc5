package graph

import (
	"mdmgen/model/facts"
	"mdmgen/model/internal/onnxpb"
)

// heads holds the lists of rows that the heads of a graph take, each with indices into the B·K
// wanted rows, and the heads' other inputs.
type heads struct {
	rows, given, best    string
	targets              string
	uniforms, heats, top string
	width, spread        string // max(top, 1), and whether top is not 0
	wide, plain          string // the shape [−1, width], and whether top is 0 and no temperature is given
}

// inputs adds the lists and the values derived from them.
func (d *stream) inputs() *heads {
	b := d.b
	h := &heads{
		rows:    b.input("take_rows", onnxpb.Int64, "rows"),
		given:   b.input("take_given", onnxpb.Int64, "given"),
		targets: b.input("targets", onnxpb.Int64, "given"),
		best:    b.input("take_best", onnxpb.Int64, "best"),
		// Uniforms and temperatures have one number for each row of the head, and top is the number
		// of most probable tokens for all rows. Empty temperatures mean 1 for all; then top is 0.
		uniforms: b.input("uniforms", onnxpb.Double, "best"),
		heats:    b.input("temperatures", onnxpb.Double, "heated"),
		top:      b.input("top", onnxpb.Int64, 1),
	}
	// As the size of a tensor, top is known to the CPU, like all sizes and the values that this
	// graph derives from them, so that no chunk waits for a device. In a branch the runtime would
	// compute them on the device, since they come from outside: tools/gpu/nothing.sh shows it.
	none, line := b.count("no_position", 0), b.ints("shape_line", -1)
	h.top = b.op("Reshape", b.op("Size", b.op("Range", none, h.top, b.count("one_position", 1))), line)
	h.width, h.spread = b.op("Max", h.top, b.ints("at_least_one", 1)), b.op("Greater", h.top, none)
	h.wide = b.node("", "Concat", attrs{{"axis", 0}}, line, h.width)
	h.plain = b.op("Equal", b.op("Add", b.op("Size", h.heats), h.top), none)
	d.take = b.node("", "Concat", attrs{{"axis", 0}}, h.rows, h.given, h.best)
	return h
}

// outputs adds the heads on the taken rows of the stream, [N, Hidden]. One product computes the
// logits of all of them, since a runtime packs a matrix anew for each operator that uses it.
func (d *stream) outputs(h *heads, x string, f facts.Facts) {
	b := d.b
	name, w, bias := d.net.head()
	head := b.gemm
	if d.b.dtype.four() && allInFour(d.c.Config) {
		head = b.product
	}
	logits := head(name, x, w, bias)
	rows := b.op("Size", h.rows)
	first := b.op("Slice", logits, b.ints("at_first", 0), b.op("Reshape", rows, b.ints("shape_line", -1)))
	b.output("logits", first, onnxpb.Float, "rows", d.c.Config.Columns)
	d.given(&listed{logits, h.given, rows}, h.targets, f)
	d.best(&listed{logits, h.best, b.op("Add", rows, b.op("Size", h.given))}, h, f)
}

// listed are the logits that a head takes: as many as its list has entries, starting at first.
type listed struct{ logits, list, first string }

// optional adds a head whose nodes run only if its list is not empty: a network is cheap compared
// to the runtime's cost per node. Its results are tensors of these names and types, empty if the
// list is.
func (d *stream) optional(list string, results []result, build func() []string) {
	b := d.b
	some := b.op("Greater", b.op("Size", list), b.count("no_position", 0))
	names := make([]string, len(results))
	for i, r := range results {
		names[i] = r.name
	}
	d.choose(some, results, build, func() []string {
		none := make([]string, len(results))
		for i, r := range results {
			none[i] = b.nothing("no_"+r.name, r.elem, []int{0, 1}[:len(r.dims)]...)
		}
		return none
	}, names...)
	for i, r := range results {
		b.give(names[i], r.elem, r.dims...)
	}
}

// choose returns the results of one of two graphs, under these names or generated ones.
func (d *stream) choose(condition string, results []result, then, otherwise func() []string, names ...string) []string {
	b := d.b
	branch := func(name string, build func() []string) onnxpb.Message {
		return b.body(name, func() {
			for i, value := range build() {
				if r := results[i]; b.made[value] {
					b.give(value, r.elem, r.dims...)
				} else {
					b.output(name+value, value, r.elem, r.dims...)
				}
			}
		})
	}
	branches := attrs{{"then_branch", branch("then_", then)}, {"else_branch", branch("else_", otherwise)}}
	if names == nil {
		names = make([]string, len(results))
	}
	return b.nodeTo("", "If", branches, names, condition)
}

// result is an output of a head.
type result struct {
	name string
	elem int64
	dims []onnxpb.Dim
}
