package graph

import "mdmgen/model/internal/onnxpb"

// causal holds the blocks of the canvases of a network with two laws ([samplers.Span]), each [B, 1, 1, 1].
type causal struct {
	from, size string
}

// causalInputs adds the inputs of blocks.
func (d *stream) causalInputs() {
	if !d.c.Config.Causal {
		return
	}
	b := d.b
	each := func(name string) string {
		return b.op("Reshape", b.input(name, onnxpb.Int64, "batch"), b.ints("shape_canvases", -1, 1, 1, 1))
	}
	d.block.from = each("block_from")
	d.block.size = b.op("Sub", each("block_to"), d.block.from)
}

// behind returns whether keys are at positions hidden from queries: those after a causal query, and
// those after the block for others. In a noisy copy each block from the first on sees itself, and all
// causal keys before itself.
func (d *stream) behind(queries, keys string, kept bool) string {
	b, noisy, one := d.b, d.kept.noisy, d.b.count("one_position", 1)
	size := b.op("Max", d.block.size, one)
	later := b.op("Mul", b.op("Mul", b.op("Div", b.op("Sub", queries, d.block.from), size), size), noisy)
	from := b.op("Add", d.block.from, later)
	last := b.op("Sub", b.op("Add", from, d.block.size), one)
	after := b.op("Greater", keys, b.op("Where", b.op("Less", queries, d.block.from), queries, last))
	if kept {
		return b.op("Or", after, b.op("Greater", b.op("Mul", b.op("Add", keys, one), noisy), from))
	}
	return b.op("Or", after, b.op("Less", keys, b.op("Mul", from, noisy)))
}
