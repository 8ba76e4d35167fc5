package ort

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The tests' models are written by hand, field by field of onnx.proto.

const (
	elemFloat32, elemInt32, elemInt64, elemFloat16, elemFloat64, elemBool = 1, 6, 7, 10, 11, 9
)

type message []byte

func (m message) str(n protowire.Number, s string) message {
	return protowire.AppendString(protowire.AppendTag(m, n, protowire.BytesType), s)
}

func (m message) sub(n protowire.Number, s []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, n, protowire.BytesType), s)
}

func (m message) num(n protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, n, protowire.VarintType), uint64(v))
}

// port returns a ValueInfoProto; a negative dimension becomes a named one.
func port(name string, elem int64, dims ...int64) []byte {
	var shape message
	for _, d := range dims {
		if d < 0 {
			shape = shape.sub(1, message{}.str(2, "any"+string(rune('a'-d))))
		} else {
			shape = shape.sub(1, message{}.num(1, d))
		}
	}
	tensor := message{}.num(1, elem).sub(2, shape)
	return message{}.str(1, name).sub(2, message{}.sub(1, tensor))
}

func node(op string, in []string, out string, attrs ...[]byte) []byte {
	var n message
	for _, s := range in {
		n = n.str(1, s)
	}
	n = n.str(2, out).str(4, op)
	for _, a := range attrs {
		n = n.sub(5, a)
	}
	return n
}

// attribute returns an integer AttributeProto.
func attribute(name string, v int64) []byte {
	return message{}.str(1, name).num(3, v).num(20, 2)
}

// weights returns a float32 TensorProto.
func weights(name string, values []float32, dims ...int64) []byte {
	t := message{}
	for _, d := range dims {
		t = t.num(1, d)
	}
	var raw []byte
	for _, v := range values {
		b := math.Float32bits(v)
		raw = append(raw, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
	}
	return t.num(2, elemFloat32).str(8, name).sub(9, raw)
}

// external returns a float32 TensorProto whose data are in a file.
func external(name, file string, dims ...int64) []byte {
	t := message{}
	for _, d := range dims {
		t = t.num(1, d)
	}
	return t.num(2, elemFloat32).str(8, name).sub(13, message{}.str(1, "location").str(2, file)).num(14, 1)
}

type graph struct {
	nodes, inits, in, out [][]byte
	meta                  map[string]string
}

func (g graph) bytes() []byte {
	m := message{}.num(1, 8).sub(7, g.body()).sub(8, message{}.str(1, "").num(2, 17))
	for k, v := range g.meta {
		m = m.sub(14, message{}.str(1, k).str(2, v))
	}
	return m
}

// body returns the GraphProto.
func (g graph) body() []byte {
	var b message
	for _, n := range g.nodes {
		b = b.sub(1, n)
	}
	b = b.str(2, "test")
	for _, n := range g.inits {
		b = b.sub(5, n)
	}
	for _, n := range g.in {
		b = b.sub(11, n)
	}
	for _, n := range g.out {
		b = b.sub(12, n)
	}
	return b
}

// adder computes z = x + y of float32 [any, 2], and has metadata.
func adder() []byte {
	return graph{
		nodes: [][]byte{node("Add", []string{"x", "y"}, "z")},
		in:    [][]byte{port("x", elemFloat32, -1, 2), port("y", elemFloat32, -1, 2)},
		out:   [][]byte{port("z", elemFloat32, -1, 2)},
		meta:  map[string]string{"mdmgen": `{"a":1}`, "empty": ""},
	}.bytes()
}

// unary computes z = op(x) between two element types, both [any].
func unary(op string, from, to int64, attrs ...[]byte) []byte {
	return graph{
		nodes: [][]byte{node(op, []string{"x"}, "z", attrs...)},
		in:    [][]byte{port("x", from, -1)},
		out:   [][]byte{port("z", to, -1)},
	}.bytes()
}

// linear computes z = x·w, x [any, n], w [n, n] with all elements equal.
func linear(n int, value float32) []byte {
	w := make([]float32, n*n)
	for i := range w {
		w[i] = value
	}
	return graph{
		nodes: [][]byte{node("MatMul", []string{"x", "w"}, "z")},
		inits: [][]byte{weights("w", w, int64(n), int64(n))},
		in:    [][]byte{port("x", elemFloat32, -1, int64(n))},
		out:   [][]byte{port("z", elemFloat32, -1, int64(n))},
	}.bytes()
}

// slow multiplies a matrix x [any, any] by itself many times.
func slow(times int) []byte {
	g := graph{in: [][]byte{port("x", elemFloat32, -1, -1)}, out: [][]byte{port("z", elemFloat32, -1, -1)}}
	last := "x"
	for i := range times {
		next := "h" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		if i == times-1 {
			next = "z"
		}
		g.nodes = append(g.nodes, node("MatMul", []string{last, "x"}, next))
		last = next
	}
	return g.bytes()
}
