package graph

import "math"

// unseen adds the masks that hide later blocks from the queries of a block-causal network, 0 or −∞
// for each score: [B, 1, n·group, Q] for fresh keys and [B, 1, n·group, P] for kept ones; "" if
// nothing is hidden.
func (d *stream) unseen(of string, group int) (fresh, kept string) {
	if d.blockSize == 0 || d.blockSize >= d.length {
		return "", ""
	}
	if d.hidden[of] == [2]string{} {
		b, at := d.b, d.kept.asked
		if of == d.positions {
			at = d.kept.wanted
		}
		// Repeat each query for the heads that share its keys.
		at = b.op("Add", b.op("Unsqueeze", at, b.ints("last_axis", -1)), b.ints("each_of_group", make([]int64, group)...))
		queries := d.blockOf(b.op("Reshape", at, b.ints("shape_queries", 0, 1, -1, 1)))
		past := b.op("Range", b.count("no_position", 0), b.op("Gather", b.op("Shape", d.kept.stale), b.count("last_of_four", 3)), b.count("one_position", 1))
		hide := func(those string) string {
			return b.op("Where", those, b.floats("hidden", []float32{float32(math.Inf(-1))}, 1), b.floats("seen", []float32{0}, 1))
		}
		keys := d.blockOf(b.op("Reshape", d.kept.asked, b.ints("shape_keys", 0, 1, 1, -1)))
		// In a noisy copy queries see only their own block, in the clean one all blocks before
		// that.
		other := b.op("Or", b.op("Greater", keys, queries), b.op("Less", keys, b.op("Mul", queries, d.kept.noisy)))
		d.hidden[of] = [2]string{hide(other), hide(b.op("Greater", d.blockOf(past), b.op("Sub", queries, d.kept.noisy)))}
	}
	return d.hidden[of][0], d.hidden[of][1]
}

// blockOf returns the blocks of positions.
func (d *stream) blockOf(positions string) string {
	return d.b.op("Div", positions, d.b.count("block_size", d.blockSize))
}
