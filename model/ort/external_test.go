package ort

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"mdmgen/internal/reftest"
)

// TestExternal checks that a tensor is found wherever a model may contain one.
func TestExternal(t *testing.T) {
	at := func(file string) []byte { return external("w", file, 2) }
	attr := func(number protowire.Number, value []byte) []byte { return message{}.str(1, "a").sub(number, value) }
	in := func(value []byte) []byte { return node("Op", []string{"x"}, "z", value) }
	body := message{}.sub(5, at("branch")).sub(1, in(attr(5, at("deep"))))
	g := graph{
		inits: [][]byte{at("weights"), at("weights"), weights("inline", []float32{1}, 1)},
		nodes: [][]byte{in(attr(5, at("constant"))), in(attr(10, at("list"))), in(attr(6, body)), in(attr(11, message{}.sub(5, at("graphs")))),
			in(attr(22, message{}.sub(1, at("values")))), in(attr(23, message{}.sub(2, at("indices"))))},
		in: [][]byte{port("x", elemFloat32, 2)}, out: [][]byte{port("z", elemFloat32, 2)},
	}
	data := message(g.bytes()).
		sub(20, message{}.sub(1, message{}.sub(5, at("initialization"))).sub(2, message{}.sub(5, at("algorithm")))).
		sub(25, message{}.sub(7, in(attr(5, at("function")))).sub(11, attr(5, at("default")))).
		sub(7, message{}.sub(15, message{}.sub(1, at("sparse"))))
	path := filepath.Join(t.TempDir(), "m.onnx")
	reftest.OK(t, os.WriteFile(path, data, 0o600))
	want := []string{"algorithm", "branch", "constant", "deep", "default", "function", "graphs", "indices", "initialization", "list", "sparse", "values", "weights"}
	if got, err := External(path); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v\nwant %v", got, err, want)
	}
	// Deeper than any protocol buffer may be: an error, not a stack overflow.
	var nested []byte
	for range 3 * maxNested {
		nested = message{}.sub(1, in(attr(6, nested)))
	}
	reftest.OK(t, os.WriteFile(path, message{}.sub(7, nested), 0o600))
	reftest.Fails(t, reftest.Err(External(path)), "deep")
	reftest.Fails(t, reftest.Err(External(filepath.Dir(path))), "not an ONNX model", "a folder")
}

// FuzzExternal checks that no bytes cause a panic.
func FuzzExternal(f *testing.F) {
	f.Add([]byte(message(adder()).sub(25, message{}.sub(11, message{}.sub(5, external("w", "../x", 2))))))
	f.Add([]byte(graph{inits: [][]byte{external("w", "/etc/passwd", 1<<62, 1<<62)}}.bytes()))
	f.Add([]byte{0x3A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01})
	f.Fuzz(func(t *testing.T, data []byte) {
		if names, err := outside(data); err == nil && len(names) > maxExternal {
			t.Errorf("%d files", len(names))
		}
	})
}
