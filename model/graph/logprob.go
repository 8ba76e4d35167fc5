package graph

import (
	"math"

	"mdmgen/model/facts"
)

// chunkCells is how many logits are in memory at once. All of a batch would be
// gigabytes for a vocabulary of 50,000 and a thousand positions; fewer than this make
// the product with the head's matrix slower, which is read once for each chunk.
const chunkCells = 4 << 20

// logProbabilities adds the outlet that gives numbers for a token and for its row,
// x being the wanted positions of the stream, [B·K, Hidden]. It takes them in equal
// chunks, the last of which begins early enough to be as long as the others.
func (d *ddit) logProbabilities(x string, f facts.Facts) {
	b := d.b
	targets := b.op("Reshape", b.input("targets", elemInt64, "batch", "wanted"), b.ints("shape_column", -1, 1))
	total := b.op("Size", d.positions)
	one := b.count("one_position", 1)
	parts := func(n, k string) string { return b.op("Div", b.op("Sub", b.op("Add", n, k), one), k) } // ⌈n/k⌉
	chunks := parts(total, b.count("most_positions", max(1, chunkCells/d.c.Config.Columns)))
	size := parts(total, chunks)
	body := b.body("chunk", func() { d.chunk(x, targets, total, size, f) })
	out := b.nodeN("", "Loop", attrs{{"body", body}}, 2, chunks, "")

	// Position i is entry i of the chunks laid end to end, but in the last chunk by as
	// many later as it overlaps the one before.
	index := b.op("Range", b.count("no_position", 0), total, one)
	overlap := b.op("Sub", b.op("Mul", chunks, size), total)
	last := b.op("Mul", b.op("Sub", chunks, one), size)
	index = b.op("Where", b.op("Less", index, last), index, b.op("Add", index, overlap))
	for i, name := range []string{"log_mu", "log_mass"} {
		line := b.op("Reshape", out[i], b.ints("shape_line", -1))
		b.output(name, b.op("Reshape", b.op("Gather", line, index), b.op("Shape", d.positions)), elemDouble, "batch", "wanted")
	}
}

// chunk is the body of the loop: the numbers of size positions.
//
// Sums and logarithms are float64, exponentials float32. That leaves 3e-8 of log μ (a
// float32 sum: 2e-6, because log Σ itself is rounded), costs 1.07 of the time of the
// rows alone for the built-in model, where exponentials in float64 cost 1.17, and sums
// of what was normalised are still 1 to the last digit of float64.
func (d *ddit) chunk(x, targets, total, size string, f facts.Facts) {
	b := d.b
	step := b.input("step", elemInt64)
	b.output("on_and_on", b.input("on", elemBool), elemBool)
	start := b.op("Min", b.op("Mul", step, size), b.op("Sub", total, size))
	vector1 := func(n string) string { return b.op("Reshape", n, b.ints("shape_line", -1)) }
	from, to := vector1(start), vector1(b.op("Add", start, size))
	cut := func(y string) string { return b.op("Slice", y, from, to, b.ints("zero", 0)) }
	double := func(y string) string { return b.node("", "Cast", attrs{{"to", elemDouble}}, y) }

	// What is not a token gets a bias of −Inf: its exponential is 0, at no cost.
	bias := vector(d.c, headName+".bias")
	for _, i := range f.Excluded() {
		bias[i] = float32(math.Inf(-1))
	}
	row := d.headWith(cut(x), bias)
	token := double(b.node("", "GatherElements", attrs{{"axis", 1}}, row, cut(targets)))
	top := b.node("", "ReduceMax", attrs{{"axes", []int{1}}}, row)
	p := double(b.op("Exp", b.op("Sub", row, top)))
	columns := b.ints("last_axis", -1)
	sum := b.op("ReduceSum", p, columns)
	norm := b.op("Add", double(top), b.op("Log", sum))
	mass := norm
	if f.Output != facts.LogScore {
		mass = b.op("Log", b.op("ReduceSum", b.op("Div", p, sum), columns))
	}
	b.output("chunk_log_mu", b.op("Sub", token, norm), elemDouble, "size", 1)
	b.output("chunk_log_mass", mass, elemDouble, "size", 1)
}
