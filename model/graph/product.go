package graph

import (
	"fmt"

	"mdmgen/model/internal/onnxpb"
)

// product adds a linear layer of the stream, in the graph's dtype, to rows x [n, in]: x·Wᵀ, plus
// bias [out] if it is not nil. Torch stores W as [out, in]. The layer's parameters are called
// name.weight and name.bias.
func (b *builder) product(name, x string, w source, bias []float32) string {
	switch {
	case b.half:
		return b.plus(name, b.wide(b.node("", "Gemm", attrs{{"transB", 1}}, b.narrow(x), b.packed(name+".weight", halves{w}))), bias, nil)
	case b.dtype == Int8 || b.layers8:
		return b.plus(name, b.product8(name, x, w), bias, w.over)
	case b.dtype.four():
		return b.plus(name, b.product4(name, x, w), bias, w.over)
	}
	return b.gemm(name, x, w, bias)
}

// narrow returns a tensor as float16; layers with the same rows share it.
func (b *builder) narrow(x string) string {
	if b.narrowed[x] == "" {
		b.narrowed[x] = b.node("", "Cast", attrs{{"to", onnxpb.Half}}, x)
	}
	return b.narrowed[x]
}

// wide returns a float16 tensor as float32.
func (b *builder) wide(x string) string { return b.node("", "Cast", attrs{{"to", onnxpb.Float}}, x) }

// gemm adds a linear layer that multiplies in float32 whatever the dtype. The head is one, because
// errors show directly in logits. W is Gemm's transposed B.
func (b *builder) gemm(name, x string, w source, bias []float32) string {
	in := []string{x, b.matrix(name+".weight", w)}
	if bias != nil {
		in = append(in, b.floats(name+".bias", bias, len(bias)))
	}
	return b.node("", "Gemm", attrs{{"transB", 1}}, in...)
}

// plus adds a bias, divided by factors if over is not nil.
func (b *builder) plus(name, y string, bias []float32, over factors) string {
	switch {
	case bias == nil:
		return y
	case over != nil:
		return b.op("Add", y, b.packed(name+".bias", vectorOver{bias, over}))
	}
	return b.op("Add", y, b.floats(name+".bias", bias, len(bias)))
}

// Rows are unsigned bytes, in which zero8 represents 0. Weights are signed bytes: the runtime has AMX
// kernels for unsigned by signed, while unsigned by unsigned is no faster than float32. GELU's values
// are above −0.17, so zero8GELU leaves nearly all bytes to what is above.
const (
	zero8     = 128
	zero8GELU = 16
)

// An MLP's inner values, of which a few are much larger than others, and the columns that take them
// have scales in groups8 groups, if there are at least columns8 of them, in whole tiles of the
// processor. Fewer columns per product would cost more than they gain.
const (
	groups8  = 4
	columns8 = 2048
)

// product8 adds x·Wᵀ in integers: Σ q_x·q_W, exact in 32 bits up to 133,000 inputs, times the
// scales of the row of weights and of the row of x.
func (b *builder) product8(name, x string, w source) string {
	zero, inner := b.inner[x]
	groups := 1
	if !inner {
		zero = zero8
	} else if w.cols >= columns8 && w.cols%(64*groups8) == 0 {
		groups = groups8
	}
	n := w.cols / groups
	if groups > 1 {
		x = b.op("Reshape", x, b.ints(fmt.Sprintf("shape_flat_%d", n), -1, int64(n)))
	}
	q, scale := b.rows8(x, zero)
	rows, steps := []string{q}, []string{scale}
	if groups > 1 {
		split := func(x string, width int) []string {
			x = b.op("Reshape", x, b.ints(fmt.Sprintf("shape_flat_%d", width), -1, int64(width)))
			return b.nodeN("", "Split", attrs{{"axis", 1}}, groups, x)
		}
		rows, steps = split(q, w.cols), split(scale, groups)
	}
	var sum string
	for g := range groups {
		part, of := w, name+".weight"
		if part.left, part.cols = g*n, n; g > 0 {
			of = fmt.Sprintf("%s.%d", of, g)
		}
		y := b.op("Mul", b.node(microsoft, "MatMulIntegerToFloat", nil, rows[g], b.packed(of+".int8", packed8{part}),
			b.floats("unit", []float32{1}), b.packed(of+".scale", scales{part, step8, n, false}), b.zero8(zero)), steps[g])
		if sum == "" {
			sum = y
		} else {
			sum = b.op("Add", sum, y)
		}
	}
	return sum
}

func (b *builder) zero8(zero int) string { return b.bytes(fmt.Sprintf("zero8_%d", zero), byte(zero)) }

// rows8 quantises rows x [n, in], each with the least scale that holds its values, to unsigned bytes
// around zero; scale [n, 1] is the size of a step of each row. Layers with the same rows share them.
func (b *builder) rows8(x string, zero int) (q, scale string) {
	if r, ok := b.quantised[x]; ok {
		return r[0], r[1]
	}
	step := func(extreme string, steps int) string {
		y := b.node("", extreme, attrs{{"axes", []int{1}}, {"keepdims", 1}}, x)
		return b.op("Mul", y, b.floats(fmt.Sprintf("step8_%d", steps), []float32{1 / float32(steps)}))
	}
	// A row of zeros needs some scale above 0.
	scale = b.op("Max", step("ReduceMax", 255-zero), step("ReduceMin", 1-zero), b.floats("tiny", []float32{1e-32}))
	line := b.op("Reshape", scale, b.ints("shape_line", -1))
	zeros := b.op("Expand", b.zero8(zero), b.op("Shape", line))
	q = b.node("", "QuantizeLinear", attrs{{"axis", 0}}, x, line, zeros)
	b.quantised[x] = [2]string{q, scale}
	return q, scale
}

// innerOf marks inner values of an MLP, which are quantised around zero, and returns them.
func (b *builder) innerOf(x string, zero int) string {
	b.inner[x] = zero
	return x
}

// gelu adds a GELU.
func (b *builder) gelu(op string, in ...string) string {
	return b.innerOf(b.node(microsoft, op, nil, in...), zero8GELU)
}

// block4 is the number of 4-bit weights that share a scale: docs/precision.md has the loss of others. In a
// network with large4 features or more it is tableBlock4: the runtime holds three numbers for each scale,
// so blocks of 16 take more memory than weights of 8 bits. tableBlock4 is also that of tables, of which
// the runtime takes no smaller ones.
const block4, tableBlock4, large4 = 16, 32, 2048

// product4 adds x·Wᵀ with 4-bit weights. At accuracy level 4 the runtime quantises each row of x to
// 8 bits, block by block, and multiplies integers.
func (b *builder) product4(name, x string, w source) string {
	a := attrs{{"K", w.cols}, {"N", w.rows}, {"bits", 4}, {"block_size", b.block4}}
	return b.node(microsoft, "MatMulNBits", append(a, b.dtype.accuracy()...), x, b.packed(name+".weight.int4", packed4{w, b.block4, false}), b.packed(name+".weight.scale", scales{w, step4, b.block4, false}))
}

// joined4 adds a matrix with 4-bit weights, or those of experts, and its scales, in the form of the
// operators for experts and tables.
func (b *builder) joined4(name string, w source, block int) (weights, steps string) {
	return b.packed(name+".int4", packed4{w, block, true}), b.packed(name+".scale", scales{w, step4, block, true})
}

// gathered4 adds rows of a table with 4-bit weights, in a form of its own if it is the head's matrix too.
func (b *builder) gathered4(name string, w source, rows string) string {
	a := attrs{{"bits", 4}, {"block_size", tableBlock4}, {"gather_axis", 0}, {"quantize_axis", 1}}
	weights, steps := b.joined4(name+".table", w, tableBlock4)
	return b.node(microsoft, "GatherBlockQuantized", a, weights, rows, steps)
}
