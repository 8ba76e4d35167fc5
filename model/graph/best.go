package graph

import "mdmgen/model/facts"

// blockColumns is about how many columns are summed up together where a distribution is
// inverted: a cumulated sum over all columns of a row runs on one thread, column by column.
const blockColumns = 256

// best adds the head that draws, and finds the most probable tokens.
func (d *ddit) best(x *listed, h *heads, f facts.Facts) {
	b := d.b
	one, several := []dim{"best"}, []dim{"best", "top"}
	results := []result{{"token", elemInt64, one}, {"log_p", elemDouble, one}, {"entropy", elemDouble, one}, {"top_tokens", elemInt64, several}, {"top_log_p", elemDouble, several}}
	d.optional(x.list, results, func() []string {
		column := func(name string) string { return b.op("Reshape", name, b.ints("shape_column", -1, 1)) }
		uniforms, heats := column(h.uniforms), column(h.heats)
		return d.inChunks(x, results, h.top, f, func(rows string, cut func(string) string) []string {
			return d.draw(rows, cut(uniforms), cut(heats), h.top)
		})
	})
}

// draw gives, for rows [n, Columns] with −Inf in what is not a token, the results of
// [ddit.best], each [n, 1] or [n, top]. It inverts the cumulated sum of the exponentials,
// in ascending order of the columns, in two levels: first it finds the block of columns
// that takes the sum past u·Σ, then the column in it. All is float64 but for the logits.
// Temperature 0 takes the greatest logit, the first among equals, and all else is then of
// temperature 1.
func (d *ddit) draw(row, u, heat, top string) []string {
	b := d.b
	columns := d.c.Config.Columns
	blocks := (columns + blockColumns - 1) / blockColumns
	width := (columns + blocks - 1) / blocks
	last := b.ints("last_axis", -1)
	if pad := blocks*width - columns; pad > 0 {
		row = b.op("Pad", row, b.ints("pad_columns", 0, 0, 0, int64(pad)), b.floats("no_logit", []float32{minusInf}))
	}
	greatest := b.nodeN("", "TopK", nil, 2, row, top)
	first := func(x string) string {
		return b.op("Slice", x, b.ints("zero", 0), b.ints("first_end", 1), last)
	}
	final := func(x string) string { return b.op("Slice", x, last, b.ints("no_end", 1<<62), last) }
	shift := d.double(first(greatest[0]))
	greedy := b.op("Equal", heat, b.doubles("no_heat", []float32{0}, 1))
	heat = b.op("Where", greedy, b.doubles("one_double", []float32{1}, 1), heat)
	scaled := func(x string) string { return b.op("Div", b.op("Sub", d.double(x), shift), heat) }
	y := scaled(row)
	e := b.op("Exp", y)

	// before counts the columns of x, cumulated sums, up to the one that passes limit; where
	// rounding has none do so, up to the last that adds anything.
	before := func(x, limit string) string {
		count := func(op, than string) string {
			return b.op("ReduceSum", b.node("", "Cast", attrs{{"to", elemInt64}}, b.op(op, x, than)), last)
		}
		return b.op("Min", count("LessOrEqual", limit), count("Less", final(x)))
	}
	axis := b.count("columns_axis", 1)
	cells := b.op("Reshape", e, b.ints("shape_blocks", -1, int64(blocks), int64(width)))
	sums := b.node("", "ReduceSum", attrs{{"keepdims", 0}}, cells, last)
	base := b.node("", "CumSum", attrs{{"exclusive", 1}}, sums, axis)
	upTo := b.op("Add", base, sums)
	sum := final(upTo)
	limit := b.op("Mul", u, sum)
	at := before(upTo, limit)
	pick := func(x, i string) string { return b.node("", "GatherElements", attrs{{"axis", 1}}, x, i) }
	inside := b.op("Add", pick(base, at), b.op("CumSum", b.node("", "GatherND", attrs{{"batch_dims", 1}}, cells, at), axis))
	token := b.op("Add", b.op("Mul", at, b.ints("block_width", int64(width))), before(inside, limit))

	norm := b.op("Log", sum)
	logP := b.op("Where", greedy, b.op("Sub", sum, sum), b.op("Sub", pick(y, token), norm)) // NaN where the sum is
	mean := b.op("ReduceSum", b.op("Mul", e, b.op("Max", y, b.doubles("finite", []float32{-1e38}, 1))), last)
	return []string{
		b.op("Where", greedy, first(greatest[1]), token), logP, b.op("Sub", norm, b.op("Div", mean, sum)),
		greatest[1], b.op("Sub", scaled(greatest[0]), norm),
	}
}
