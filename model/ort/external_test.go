package ort

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"mdmgen/internal/reftest"
	"mdmgen/model/internal/onnxpb"
)

// TestExternal checks that a tensor is found wherever a model may contain one.
func TestExternal(t *testing.T) {
	at := func(file string) []byte { return external("w", file, 2) }
	attr := func(number protowire.Number, value []byte) []byte { return message{}.Text(1, "a").Bytes(number, value) }
	in := func(value []byte) []byte { return node("Op", []string{"x"}, "z", value) }
	body := message{}.Bytes(5, at("branch")).Bytes(1, in(attr(5, at("deep"))))
	g := graph{
		inits: [][]byte{at("weights"), at("weights"), weights("inline", []float32{1}, 1)},
		nodes: [][]byte{in(attr(5, at("constant"))), in(attr(10, at("list"))), in(attr(6, body)), in(attr(11, message{}.Bytes(5, at("graphs")))),
			in(attr(22, message{}.Bytes(1, at("values")))), in(attr(23, message{}.Bytes(2, at("indices"))))},
		in: [][]byte{port("x", onnxpb.Float, 2)}, out: [][]byte{port("z", onnxpb.Float, 2)},
	}
	data := message(g.bytes()).
		Bytes(20, message{}.Bytes(1, message{}.Bytes(5, at("initialization"))).Bytes(2, message{}.Bytes(5, at("algorithm")))).
		Bytes(25, message{}.Bytes(7, in(attr(5, at("function")))).Bytes(11, attr(5, at("default")))).
		Bytes(7, message{}.Bytes(15, message{}.Bytes(1, at("sparse"))))
	path := filepath.Join(t.TempDir(), "m.onnx")
	reftest.OK(t, os.WriteFile(path, data, 0o600))
	want := []string{"algorithm", "branch", "constant", "deep", "default", "function", "graphs", "indices", "initialization", "list", "sparse", "values", "weights"}
	if got, err := External(path); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v\nwant %v", got, err, want)
	}
	// Deeper than any protocol buffer may be: an error, not a stack overflow.
	var nested []byte
	for range 300 {
		nested = message{}.Bytes(1, in(attr(6, nested)))
	}
	reftest.OK(t, os.WriteFile(path, message{}.Bytes(7, nested), 0o600))
	reftest.Fails(t, reftest.Err(External(path)), "deep")
	reftest.Fails(t, reftest.Err(External(filepath.Dir(path))), "not an ONNX model", "a folder")
}

// FuzzExternal checks that no bytes cause a panic.
func FuzzExternal(f *testing.F) {
	f.Add([]byte(message(adder()).Bytes(25, message{}.Bytes(11, message{}.Bytes(5, external("w", "../x", 2))))))
	f.Add([]byte(graph{inits: [][]byte{external("w", "/etc/passwd", 1<<62, 1<<62)}}.bytes()))
	f.Add([]byte{0x3A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01})
	f.Fuzz(func(t *testing.T, data []byte) {
		if names, err := outside(data); err == nil && len(names) > maxExternal {
			t.Errorf("%d files", len(names))
		}
	})
}
