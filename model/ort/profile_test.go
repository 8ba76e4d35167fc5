package ort

import (
	"context"
	"maps"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/internal/onnxpb"
)

// branched returns a network that works on shapes, on a constant, and on x, also in a branch: the
// sum of x's size and a constant decides between −x and x·x.
func branched() []byte {
	named := func(name, op string, in []string, out string, attrs ...[]byte) []byte {
		return message(node(op, in, out, attrs...)).Text(3, name)
	}
	branch := func(name, op string, in ...string) message {
		return graph{nodes: [][]byte{named(name, op, in, name+"_out")}, out: [][]byte{port(name+"_out", onnxpb.Float, -1)}}.body()
	}
	return graph{
		nodes: [][]byte{
			named("size", "Size", []string{"x"}, "n"),
			named("more", "Add", []string{"n", "n"}, "twice"),
			named("least", "Equal", []string{"twice", "n"}, "none"),
			named("choice", "If", []string{"none"}, "z", onnxpb.Attribute("then_branch", branch("minus", "Neg", "x")), onnxpb.Attribute("else_branch", branch("square", "Mul", "x", "x"))),
		},
		in: [][]byte{port("x", onnxpb.Float, -1)}, out: [][]byte{port("z", onnxpb.Float, -1)},
	}.bytes()
}

// TestProfile checks that the runtime's profiles hold each node that ran once, with its provider,
// also in a branch, and that a second session does not overwrite the first one's.
func TestProfile(t *testing.T) {
	folder := t.TempDir()
	for range 2 {
		s, err := Open(t.Context(), Source{Bytes: branched()}, Config{Profile: folder})
		if err != nil {
			open(t, Source{Bytes: branched()}) // skips, or fails
		}
		for range 3 {
			reftest.OK(t, s.Run(t.Context(), []Tensor{vector("x", 1, 2)}, []Tensor{vector("z", 0, 0)}))
		}
		reftest.OK(t, s.Close())
	}
	got := make(map[string]int)
	for _, r := range reftest.Must(ReadProfiles(folder))(t) {
		if r.Provider != CPUProvider {
			t.Errorf("%+v", r)
		}
		got[r.Operator] = r.Nodes
	}
	if want := map[string]int{"Size": 2, "Add": 2, "Equal": 2, "If": 2, "Mul": 2}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	reftest.Fails(t, reftest.Err(ReadProfiles(t.TempDir())), "wrote no profile")
}

// TF32 is off by default, and only CUDA has it.
func TestTF32(t *testing.T) {
	for _, on := range []bool{false, true} {
		d, err := Config{Device: "cuda:2", TF32: on}.device()
		if err != nil || d.options()["use_tf32"] != map[bool]string{false: "0", true: "1"}[on] || d.options()["device_id"] != "2" {
			t.Errorf("TF32 %t: %v, %v", on, d.options(), err)
		}
	}
	for _, c := range []Config{{TF32: true}, {TF32: true, Device: "cpu"}} {
		reftest.Fails(t, reftest.Err(Open(context.Background(), Source{Bytes: adder()}, c)), "only device cuda", c)
	}
}
