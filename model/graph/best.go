package graph

import (
	"fmt"
	"math"

	"mdmgen/model/facts"
	"mdmgen/model/internal/onnxpb"
)

const (
	// blockColumns is about the number of columns that are summed together when a distribution is
	// inverted: a CumSum over all columns of a row runs on one thread, column by column.
	blockColumns = 1024
	// terms is the number of weights that are first summed in float32: a Cast to float64 runs on
	// one thread, and takes as long as the exponentials.
	terms = 8
)

// best adds the head that draws tokens and finds the most probable ones.
func (d *stream) best(x *listed, h *heads, f facts.Facts) {
	b := d.b
	one, several := []onnxpb.Dim{"best"}, []onnxpb.Dim{"best", "top"}
	results := []result{{"token", onnxpb.Int64, one}, {"log_p", onnxpb.Double, one}, {"entropy", onnxpb.Double, one}, {"top_tokens", onnxpb.Int64, several}, {"top_log_p", onnxpb.Double, several}}
	d.optional(x.list, results, func() []string {
		column := func(name string) string { return b.op("Reshape", name, b.ints("shape_column", -1, 1)) }
		uniforms, heats := column(h.uniforms), column(h.heats)
		// A plain draw, with all temperatures 1 and no top tokens, needs no TopK and no Div.
		return d.choose(h.plain, results, func() []string {
			out := d.inChunks(x, results[:2], "", f, func(rows string, cut func(string) string) []string {
				return d.draw(rows, cut(uniforms), "", nil)
			})
			return []string{out[0], out[1], b.op("Sub", out[1], out[1]), column(out[0]), column(out[1])}
		}, func() []string {
			return d.inChunks(x, results, h.wide, f, func(rows string, cut func(string) string) []string {
				return d.draw(rows, cut(uniforms), cut(heats), h)
			})
		})
	})
}

// draw returns, for rows [n, Columns] with −Inf in columns that are not tokens, the results of
// [stream.best], each [n, 1] or [n, width]; the entropy is 0 if top is. If heat is "", all
// temperatures are 1, and draw returns only the token and its log-probability.
//
// Exponentials are computed in float32, which takes a tenth of the time of float64. If the uniform
// is so close to a boundary between two tokens that float32 rounding may have moved it, which
// happens in 2% of flat rows, the row is drawn again with exponentials in float64.
func (d *stream) draw(row, u, heat string, h *heads) []string {
	b := d.b
	plain := heat == ""
	columns := d.c.Config.Columns
	blocks := (columns + blockColumns - 1) / blockColumns
	each := (columns + blocks*terms - 1) / (blocks * terms) * terms
	if pad := blocks*each - columns; pad > 0 {
		row = b.op("Pad", row, b.ints("pad_columns", 0, 0, 0, int64(pad)), b.floats("no_logit", []float32{minusInf}))
	}
	var greatest []string
	var shift, greedy string
	if plain {
		shift = b.node("", "ReduceMax", attrs{{"axes", []int{1}}}, row)
	} else {
		greatest = b.nodeN("", "TopK", nil, 2, row, h.width)
		shift = d.firstColumn(greatest[0])
		greedy = b.op("Equal", heat, b.doubles("no_heat", []float32{0}, 1))
		heat = b.op("Where", greedy, b.doubles("one_double", []float32{1}, 1), heat)
	}
	y, rounded := b.op("Sub", row, shift), 1.0
	if !plain {
		y, rounded = b.op("Div", y, b.node("", "Cast", attrs{{"to", onnxpb.Float}}, heat)), 3
	}
	weights := b.op("Exp", y)
	drawn := d.invert(weights, u, blocks, each, false)
	norm := b.op("Log", drawn.sum)
	// exactly returns y in float64 for logits x; of selects the rows that x has.
	exactly := func(x string, of func(string) string) string {
		y := b.op("Sub", d.double(x), d.double(of(shift)))
		if plain {
			return y
		}
		return b.op("Div", y, of(heat))
	}
	all := func(x string) string { return x }
	logP := b.op("Sub", exactly(d.pick(row, drawn.token), all), norm)

	// Rows whose token may be wrong, or that have no softmax; see [stream.uncertainty].
	line, column := b.ints("shape_line", -1), b.ints("shape_column", -1, 1)
	doubtful := b.op("Not", b.op("Greater", drawn.margin, d.uncertainty(drawn.sum, norm, rounded)))
	which := b.op("Reshape", b.op("NonZero", b.op("Reshape", doubtful, line)), line)
	again := b.body("again", func() {
		of := func(x string) string { return b.op("Gather", x, which) }
		y := exactly(of(row), of)
		exact := d.invert(b.op("Exp", y), of(u), blocks, each, true)
		at := b.op("Reshape", which, column)
		b.output("again_token", b.op("ScatterND", drawn.token, at, exact.token), onnxpb.Int64, "size", 1)
		b.output("again_log_p", b.op("ScatterND", logP, at, b.op("Sub", d.pick(y, exact.token), b.op("Log", exact.sum))), onnxpb.Double, "size", 1)
	})
	good := b.body("good", func() {
		b.output("good_token", drawn.token, onnxpb.Int64, "size", 1)
		b.output("good_log_p", logP, onnxpb.Double, "size", 1)
	})
	none := b.count("no_position", 0)
	some := b.op("Greater", b.op("Size", which), none)
	out := b.nodeN("", "If", attrs{{"then_branch", again}, {"else_branch", good}}, 2, some)
	if plain {
		return out
	}
	zero := b.op("Sub", drawn.sum, drawn.sum) // NaN if the sum is
	spread := b.body("spread", func() {
		finite := b.op("Max", y, b.floats("finite", []float32{-1e38}, 1)) // 0·−Inf is not a number
		mean := b.op("ReduceSum", d.double(b.op("Mul", weights, finite)), b.ints("last_axis", -1))
		b.output("spread_entropy", b.op("Sub", norm, b.op("Div", mean, drawn.sum)), onnxpb.Double, "size", 1)
	})
	alone := b.body("alone", func() { b.output("no_spread", zero, onnxpb.Double, "size", 1) })
	entropy := b.node("", "If", attrs{{"then_branch", spread}, {"else_branch", alone}}, h.spread)
	return []string{
		b.op("Where", greedy, d.firstColumn(greatest[1]), out[0]),
		b.op("Where", greedy, zero, out[1]), entropy,
		greatest[1], b.op("Sub", exactly(greatest[0], all), norm),
	}
}

// uncertainty bounds how far float32 rounding can move a boundary between two tokens.
//
// A term e^y has a relative error of at most 2^-24·(r|y| + 4), from r roundings of y and its
// temperature and from the exponential; a sum of k terms adds k − 1. A boundary at a share F of the
// sum moves by 1−F times the errors of the terms before it, each weighted by its probability p,
// plus F times those of the terms after it. Since |y| is −log p − norm, and the entropy of V
// columns is at most log V, that is 2^-24·2F(1−F)·(r(log V − norm) + k + 3), plus r/10·2^-24 if the
// entropies of the two sides differ; and 2F(1−F) is at most 1/2.
func (d *stream) uncertainty(sum, norm string, rounded float64) string {
	b := d.b
	name := fmt.Sprintf("uncertainty_%v", rounded)
	unit := b.doubles(name+"_unit", []float32{float32(math.Ldexp(rounded, -25))}, 1)
	most := b.doubles(name, []float32{float32(math.Log(float64(d.c.Config.Columns)) + (terms+4)/rounded)}, 1)
	return b.op("Mul", b.op("Mul", sum, unit), b.op("Sub", most, norm))
}

// inverted is the place where a cumulated sum passes its limit.
type inverted struct {
	// token [n, 1] is the column, sum the sum of all weights, margin the distance from the limit to
	// the nearest boundary.
	token, sum, margin string
}

// invert finds the column at which the cumulated sum of weights e [n, blocks·width], in ascending
// order of the columns, passes u·Σ. It works in two levels: first the block of columns, then the
// column in it. If the margin is small, only the result with exact is reliable.
func (d *stream) invert(e, u string, blocks, width int, exact bool) inverted {
	b := d.b
	last, axis := b.ints("last_axis", -1), b.count("columns_axis", 1)
	final := func(x string) string { return b.op("Slice", x, last, b.ints("no_end", 1<<62), last) }
	// before returns the index of the first cumulated sum above the limit. If rounding leaves none
	// above it, that is the last one that adds anything if exact is set, else the very last, whose
	// margin is then not above 0.
	before := func(x, limit string, most int) string {
		count := func(op, than string) string {
			return b.op("ReduceSum", b.node("", "Cast", attrs{{"to", onnxpb.Int64}}, b.op(op, x, than)), last)
		}
		if !exact {
			return b.op("Min", count("LessOrEqual", limit), b.ints(fmt.Sprintf("last_of_%d", most), int64(most-1)))
		}
		return b.op("Min", count("LessOrEqual", limit), count("Less", final(x)))
	}
	cells := b.op("Reshape", e, b.ints("shape_blocks", -1, int64(blocks), int64(width)))
	parts := b.op("Reshape", e, b.ints("shape_parts", -1, int64(blocks), terms, int64(width/terms)))
	parts = b.node("", "ReduceSum", attrs{{"keepdims", 0}}, parts, b.ints("axis_terms", 2))
	sums := b.node("", "ReduceSum", attrs{{"keepdims", 0}}, d.double(parts), last)
	base := b.node("", "CumSum", attrs{{"exclusive", 1}}, sums, axis)
	upTo := b.op("Add", base, sums)
	sum := final(upTo)
	limit := b.op("Mul", u, sum)
	at := before(upTo, limit, blocks)
	block := d.double(b.node("", "GatherND", attrs{{"batch_dims", 1}}, cells, at))
	inside := b.op("Add", d.pick(base, at), b.op("CumSum", block, axis))
	within := before(inside, limit, width)
	above := b.op("Sub", d.pick(inside, within), limit)
	return inverted{
		token:  b.op("Add", b.op("Mul", at, b.ints("block_width", int64(width))), within),
		sum:    sum,
		margin: b.op("Min", above, b.op("Sub", d.pick(block, within), above)),
	}
}

// pick returns the column of each row given by an index [n, 1].
func (d *stream) pick(x, i string) string {
	return d.b.node("", "GatherElements", attrs{{"axis", 1}}, x, i)
}

// firstColumn returns the first column of rows, [n, 1].
func (d *stream) firstColumn(x string) string {
	return d.b.op("Slice", x, d.b.ints("zero", 0), d.b.ints("first_end", 1), d.b.ints("last_axis", -1))
}
