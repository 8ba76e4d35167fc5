package graph

import (
	"math"

	"mdmgen/model/facts"
	"mdmgen/model/internal/onnxpb"
)

var minusInf = float32(math.Inf(-1))

// chunkCells is the number of logits that a head processes together, at least one row. The
// intermediate results, several numbers per logit, then stay in the processor's cache and do not
// take memory for all rows of a call. On a GPU they may take 1 GiB, since a chunk costs a wait and
// the start of 40 kernels.
const chunkCells, chunkCellsGPU = 1 << 17, 1 << 25

// given adds the head that returns the numbers of a given token and of its row.
func (d *stream) given(x *listed, targets string, f facts.Facts) {
	results := []result{{"log_mu", onnxpb.Double, []onnxpb.Dim{"given"}}, {"log_mass", onnxpb.Double, []onnxpb.Dim{"given"}}}
	d.optional(x.list, results, func() []string {
		column := d.b.op("Reshape", targets, d.b.ints("shape_column", -1, 1))
		return d.inChunks(x, results, "", f, func(rows string, cut func(string) string) []string { return d.logProbabilities(rows, cut(column), f) })
	})
}

// inChunks computes the results of the rows that a head takes, each [n, 1] for n rows, or of the
// shape wide, [−1, width], if the result has a second dimension. The chunks are equal; the last one begins early
// enough to be as long as the others. chunk is called with the logits of some rows, −Inf in columns
// that are not tokens, and a function that cuts those rows' lines out of a tensor with a line for
// each row.
func (d *stream) inChunks(x *listed, results []result, wide string, f facts.Facts, chunk func(rows string, cut func(string) string) []string) []string {
	b := d.b
	total, line := b.op("Size", x.list), b.ints("shape_line", -1)
	one := b.count("one_position", 1)
	parts := func(n, k string) string { return b.op("Div", b.op("Sub", b.op("Add", n, k), one), k) } // ⌈n/k⌉
	cells := chunkCells
	if b.gpu {
		cells = chunkCellsGPU
	}
	chunks := parts(total, b.count("most_positions", max(1, cells/d.c.Config.Columns)))
	size := parts(total, chunks)
	excluded := make([]float32, d.c.Config.Columns)
	for _, i := range f.Excluded() {
		excluded[i] = minusInf
	}
	// The lines of each chunk [chunks, size], and their places among the logits. They are computed
	// beforehand, so that no chunk waits for a device to know where it begins.
	none := b.count("no_position", 0)
	starts := b.op("Min", b.op("Mul", b.op("Range", none, chunks, one), size), b.op("Sub", total, size))
	lines := b.op("Add", b.op("Reshape", starts, b.ints("shape_column", -1, 1)), b.op("Range", none, size, one))
	at := b.op("Add", lines, x.first)
	body := b.body("chunk", func() {
		some, at := b.input("some", onnxpb.Int64, "size"), b.input("at", onnxpb.Int64, "size")
		cut := func(y string) string { return b.op("Gather", y, some) }
		rows := b.op("Add", b.op("Gather", x.logits, at), b.floats("excluded", excluded, len(excluded)))
		for i, value := range chunk(rows, cut) {
			b.output("chunk_"+results[i].name, value, results[i].elem, "size", "each")
		}
	})
	out := b.nodeN("", "Scan", attrs{{"body", body}, {"num_scan_inputs", 2}}, len(results), lines, at)

	// Row i is entry i of the chunks laid end to end; in the last chunk it is later by the overlap
	// with the chunk before.
	index := b.op("Range", none, total, one)
	overlap := b.op("Sub", b.op("Mul", chunks, size), total)
	last := b.op("Mul", b.op("Sub", chunks, one), size)
	index = b.op("Where", b.op("Less", index, last), index, b.op("Add", index, overlap))
	for i := range out {
		shape := line
		if len(results[i].dims) > 1 {
			shape = wide
		}
		out[i] = b.op("Gather", b.op("Reshape", out[i], shape), index)
	}
	return out
}

// logProbabilities returns the logarithms of a token's probability and of a row's mass.
//
// Sums and logarithms are float64, exponentials float32. The error of log μ is then 3e-8; with
// everything in float32 it was 2e-6, because log Σ itself is rounded. Normalised numbers still sum
// to 1 in float64. With half its positions wanted, a call of the built-in model takes about 8 %
// longer than for its rows, not counting their reduction; with exponentials in float64 it was 18 %.
func (d *stream) logProbabilities(row, targets string, f facts.Facts) []string {
	b := d.b
	token := d.double(b.node("", "GatherElements", attrs{{"axis", 1}}, row, targets))
	top := b.node("", "ReduceMax", attrs{{"axes", []int{1}}}, row)
	p := d.double(b.op("Exp", b.op("Sub", row, top)))
	columns := b.ints("last_axis", -1)
	sum := b.op("ReduceSum", p, columns)
	norm := b.op("Add", d.double(top), b.op("Log", sum))
	mass := norm
	if f.Output != facts.LogScore {
		mass = b.op("Log", b.op("ReduceSum", b.op("Div", p, sum), columns))
	}
	return []string{b.op("Sub", token, norm), mass}
}

func (d *stream) double(x string) string {
	return d.b.node("", "Cast", attrs{{"to", onnxpb.Double}}, x)
}
