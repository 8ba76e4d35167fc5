package ort

import (
	"math"

	"mdmgen/model/internal/onnxpb"
)

// The tests' models are written by hand, field by field of onnx.proto.

const elemInt32 = 6

type message = onnxpb.Message

// port returns a ValueInfoProto; a negative dimension becomes a named one.
func port(name string, elem int64, dims ...int) []byte {
	all := make([]onnxpb.Dim, len(dims))
	for i, d := range dims {
		if all[i] = d; d < 0 {
			all[i] = "any" + string(rune('a'-d))
		}
	}
	return onnxpb.ValueInfo(name, elem, all...)
}

func node(op string, in []string, out string, attrs ...[]byte) []byte {
	var n message
	for _, s := range in {
		n = n.Text(1, s)
	}
	n = n.Text(2, out).Text(4, op)
	for _, a := range attrs {
		n = n.Bytes(5, a)
	}
	return n
}

// weights returns a float32 TensorProto.
func weights(name string, values []float32, dims ...int64) []byte {
	t := message{}
	for _, d := range dims {
		t = t.Int(1, d)
	}
	var raw []byte
	for _, v := range values {
		b := math.Float32bits(v)
		raw = append(raw, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
	}
	return t.Int(2, onnxpb.Float).Text(8, name).Bytes(9, raw)
}

// external returns a float32 TensorProto whose data are in a file.
func external(name, file string, dims ...int64) []byte {
	t := message{}
	for _, d := range dims {
		t = t.Int(1, d)
	}
	return t.Int(2, onnxpb.Float).Text(8, name).Bytes(13, message{}.Text(1, "location").Text(2, file)).Int(14, 1)
}

type graph struct {
	nodes, inits, in, out [][]byte
	meta                  map[string]string
}

func (g graph) bytes() []byte {
	m := message{}.Int(1, 8).Bytes(7, g.body()).Bytes(8, message{}.Text(1, "").Int(2, 17))
	for k, v := range g.meta {
		m = m.Bytes(14, message{}.Text(1, k).Text(2, v))
	}
	return m
}

// body returns the GraphProto.
func (g graph) body() message {
	var b message
	for _, n := range g.nodes {
		b = b.Bytes(1, n)
	}
	b = b.Text(2, "test")
	for _, n := range g.inits {
		b = b.Bytes(5, n)
	}
	for _, n := range g.in {
		b = b.Bytes(11, n)
	}
	for _, n := range g.out {
		b = b.Bytes(12, n)
	}
	return b
}

// adder computes z = x + y of float32 [any, 2], and has metadata.
func adder() []byte {
	return graph{
		nodes: [][]byte{node("Add", []string{"x", "y"}, "z")},
		in:    [][]byte{port("x", onnxpb.Float, -1, 2), port("y", onnxpb.Float, -1, 2)},
		out:   [][]byte{port("z", onnxpb.Float, -1, 2)},
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
		in:    [][]byte{port("x", onnxpb.Float, -1, n)},
		out:   [][]byte{port("z", onnxpb.Float, -1, n)},
	}.bytes()
}

// slow multiplies a matrix x [any, any] by itself many times.
func slow(times int) []byte {
	g := graph{in: [][]byte{port("x", onnxpb.Float, -1, -1)}, out: [][]byte{port("z", onnxpb.Float, -1, -1)}}
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
