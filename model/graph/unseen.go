package graph

import "math"

// unseen adds the masks that hide keys from the queries of a layer, 0 or −∞ for each score: [B, 1,
// n·group, Q] for fresh keys and [B, 1, n·group, P] for kept ones; "" if nothing is hidden. In a
// block-causal network these are keys of later blocks, in one with two laws those of [stream.behind], and
// in a local layer those too far away.
func (d *stream) unseen(layer int, of string, group int) (fresh, kept string) {
	local := d.c.Config.Local
	near := local.In[layer] && local.Reach < d.length-1
	causal := d.c.Config.Causal
	if !near && !causal && (d.blockSize == 0 || d.blockSize >= d.length) {
		return "", ""
	}
	name, hides := of, d.later
	if causal {
		hides = d.behind
	}
	if near {
		name, hides = of+"_local", d.distant
	}
	if d.hidden[name] == [2]string{} {
		b, asked := d.b, d.places()
		at := asked
		if of == d.positions {
			at = d.kept.wanted
		}
		// Repeat each query for the heads that share its keys.
		at = b.op("Add", b.op("Unsqueeze", at, b.ints("last_axis", -1)), b.ints("each_of_group", make([]int64, group)...))
		queries := b.op("Reshape", at, b.ints("shape_queries", 0, 1, -1, 1))
		mask := func(keys string, kept bool) string {
			return b.op("Where", hides(queries, keys, kept), b.floats("hidden", []float32{float32(math.Inf(-1))}, 1), b.floats("seen", []float32{0}, 1))
		}
		masks := [2]string{mask(b.op("Reshape", asked, b.ints("shape_keys", 0, 1, 1, -1)), false)}
		if d.keeps {
			past := b.op("Range", b.count("no_position", 0), b.op("Gather", b.op("Shape", d.kept.stale), b.count("last_of_four", 3)), b.count("one_position", 1))
			masks[1] = mask(past, true)
		}
		d.hidden[name] = masks
	}
	return d.hidden[name][0], d.hidden[name][1]
}

// later returns whether keys are in blocks of positions that are hidden. In a noisy copy queries see
// only their own block, in the clean one all blocks before that.
func (d *stream) later(queries, keys string, kept bool) string {
	b := d.b
	queries, keys = d.blockOf(queries), d.blockOf(keys)
	if kept {
		return b.op("Greater", keys, b.op("Sub", queries, d.kept.noisy))
	}
	return b.op("Or", b.op("Greater", keys, queries), b.op("Less", keys, b.op("Mul", queries, d.kept.noisy)))
}

// distant returns whether keys are at positions that a local layer does not reach.
func (d *stream) distant(queries, keys string, _ bool) string {
	b := d.b
	return b.op("Greater", b.op("Abs", b.op("Sub", queries, keys)), b.count("reach", d.c.Config.Local.Reach))
}

// blockOf returns the blocks of positions.
func (d *stream) blockOf(positions string) string {
	return d.b.op("Div", positions, d.b.count("block_size", d.blockSize))
}
