package ort

import (
	"context"
	"slices"
	"strings"
	"testing"

	onnx "github.com/yalue/onnxruntime_go"

	"mdmgen/internal/reftest"
	"mdmgen/model/onnxpb"
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

// The runtime reports where each node runs, including those of branches; on the CPU they all run
// there.
func TestPlacement(t *testing.T) {
	s := open(t, Source{Bytes: adder()}) // begins the environment
	o := reftest.Must(onnx.NewSessionOptions())(t)
	defer func() { _ = o.Destroy() }()
	reftest.OK(t, o.AddSessionConfigEntry(recordPlacement, "1"))
	native := reftest.Must(onnx.NewDynamicAdvancedSessionWithONNXData(branched(), []string{"x"}, []string{"z"}, o))(t)
	defer func() { _ = native.Destroy() }()
	all := reftest.Must(placement(native, s.library.Path))(t)
	left := fallbacks(all, reftest.Must(shapeNodes(branched()))(t))
	for _, want := range []operation{{"choice", "If"}, {"minus", "Neg"}, {"square", "Mul"}} {
		if !slices.Contains(left, want) {
			t.Errorf("%v is not among %v", want, left)
		}
	}
	for _, no := range []operation{{"size", "Size"}, {"more", "Add"}, {"least", "Equal"}} {
		if slices.Contains(left, no) {
			t.Errorf("%v, arithmetic on shapes, is among %v", no, left)
		}
	}
	reftest.Fails(t, reftest.Err(placement(s.native, s.library.Path)), "", "a session that has not recorded it tells where its nodes run")
}

// Nodes left to the CPU are an error that names them, except with the device auto.
func TestFallbackRefused(t *testing.T) {
	all := []placed{{"a", "Unique", cpuProvider}, {"b", "Unique", cpuProvider}, {"c", "TopK", cpuProvider}, {"d", "Gemm", "CUDAExecutionProvider"}, {"s", "Add", cpuProvider}, {"", "If", cpuProvider}}
	left := fallbacks(all, map[operation]bool{{"s", "Add"}: true})
	const named = "a (Unique), b (Unique), c (TopK), and If"
	var log []string
	cfg := Config{Log: func(l string) { log = append(log, l) }}
	s := Session{provider: "cuda:0"}
	reftest.Fails(t, s.judge(left, cfg, device{cuda: true, tf32: true}), "4 nodes of the network, which would run on the CPU: "+named, "cuda")
	if err := s.judge(left, cfg, device{cuda: true, auto: true, tf32: true}); err != nil || len(log) != 1 || !strings.HasSuffix(log[0], named) || s.provider != "cuda:0, TF32, Unique,TopK,If on the CPU" {
		t.Errorf("auto: %v, %q, provider %s", err, log, s.provider)
	}
}

// TF32 is off by default, and only CUDA has it.
func TestTF32(t *testing.T) {
	for _, on := range []bool{false, true} {
		d, err := Config{Device: "cuda:2", TF32: on}.device()
		if err != nil || d.options()["use_tf32"] != map[bool]string{false: "0", true: "1"}[on] || d.options()["device_id"] != "2" {
			t.Errorf("TF32 %t: %v, %v", on, d.options(), err)
		}
	}
	reftest.Fails(t, reftest.Err(Open(context.Background(), Source{Bytes: adder()}, Config{TF32: true})), "only device cuda", "TF32")
}
