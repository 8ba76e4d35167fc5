package ort

import (
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/model/internal/onnxpb"
	"mdmgen/model/ort/library"
)

// truth returns a TensorProto of one bool.
func truth(name string) []byte {
	return message{}.Int(2, onnxpb.Bool).Text(8, name).Bytes(9, []byte{1})
}

// loop repeats z = −x while its condition, which never changes, is true.
func loop() []byte {
	body := graph{
		nodes: [][]byte{node("Identity", []string{"go"}, "again"), node("Neg", []string{"v"}, "w")},
		in:    [][]byte{port("i", onnxpb.Int64), port("go", onnxpb.Bool), port("v", onnxpb.Float, -1)},
		out:   [][]byte{port("again", onnxpb.Bool), port("w", onnxpb.Float, -1)},
	}
	return graph{
		nodes: [][]byte{node("Loop", []string{"", "yes", "x"}, "z", onnxpb.Attribute("body", body.body()))},
		inits: [][]byte{truth("yes")},
		in:    [][]byte{port("x", onnxpb.Float, -1)},
		out:   [][]byte{port("z", onnxpb.Float, -1)},
	}.bytes()
}

// TestEndlessLoop checks that an endless call is stopped at a limit that was logged, and that the
// session still works.
func TestEndlessLoop(t *testing.T) {
	before := loopBase
	loopBase = 200 * time.Millisecond
	defer func() { loopBase = before }()
	var told []string
	s, err := Open(t.Context(), Source{Bytes: loop()}, Config{Search: library.Search{Log: func(line string) { told = append(told, line) }}})
	if err != nil {
		open(t, Source{Bytes: loop()}) // skips, or fails
	}
	defer s.Close()
	if text := strings.Join(told, "\n"); !strings.Contains(text, "has Loop: a call that takes longer than 200ms plus a second per position is cancelled") {
		t.Errorf("told %q", text)
	}
	for range 2 {
		err = s.Run(t.Context(), []Tensor{vector("x", 1)}, []Tensor{vector("z", 0)})
		reftest.Fails(t, err, "has not ended after 200ms: node Loop may loop forever")
	}
}

// TestRandomOperators checks that a graph with a random node is rejected with the node's name,
// wherever the node is.
func TestRandomOperators(t *testing.T) {
	one := func(nodes ...[]byte) graph {
		return graph{nodes: nodes, in: [][]byte{port("x", onnxpb.Float, -1)}, out: [][]byte{port("z", onnxpb.Float, -1)}}
	}
	within := func(op string, field int64) []byte {
		body := message{}.Text(1, "body").Int(20, 5)
		if field == 6 {
			return node("If", []string{"x"}, "z", body.Bytes(6, one(node(op, []string{"x"}, "z")).body()))
		}
		return node("If", []string{"x"}, "z", body.Bytes(11, one(node(op, []string{"x"}, "z")).body()))
	}
	dropout := node("Dropout", []string{"x", "", "train"}, "z")
	for _, test := range []struct {
		name  string
		model []byte
		want  string
	}{
		{"normal", unary("RandomNormal", onnxpb.Float, onnxpb.Float), "node RandomNormal"},
		{"normal like", unary("RandomNormalLike", onnxpb.Float, onnxpb.Float), "node RandomNormalLike"},
		{"uniform", unary("RandomUniform", onnxpb.Float, onnxpb.Float), "node RandomUniform"},
		{"uniform like", unary("RandomUniformLike", onnxpb.Float, onnxpb.Float), "node RandomUniformLike"},
		{"multinomial", unary("Multinomial", onnxpb.Float, onnxpb.Float), "node Multinomial"},
		{"bernoulli", unary("Bernoulli", onnxpb.Float, onnxpb.Float), "node Bernoulli"},
		{"by name", one(message(node("Bernoulli", []string{"x"}, "z")).Text(3, "noise")).bytes(), "node noise (Bernoulli)"},
		{"training", one(dropout).bytes(), "node Dropout"},
		{"in a branch", one(within("Bernoulli", 6)).bytes(), "node Bernoulli"},
		{"in branches", one(within("Bernoulli", 11)).bytes(), "node Bernoulli"},
		{"in a function", message(one(node("Mine", []string{"x"}, "z")).bytes()).Bytes(25, message{}.Bytes(7, node("Bernoulli", []string{"x"}, "z"))), "node Bernoulli"},
		{"inference", unary("Dropout", onnxpb.Float, onnxpb.Float), ""},
		{"of no number", one(node("Dropout", []string{"x", "r", ""}, "z")).bytes(), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Describe(Source{Bytes: test.model})
			if test.want == "" {
				reftest.OK(t, err)
			} else if err == nil || !strings.Contains(err.Error(), test.want+" draws at random") {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	deep := node("If", []string{"x"}, "z")
	for range 10_000 {
		deep = node("If", []string{"x"}, "z", message{}.Bytes(6, message{}.Bytes(1, deep)))
		if len(deep) > 1<<16 {
			break
		}
	}
	reftest.Fails(t, reftest.Err(Describe(Source{Bytes: one(deep).bytes()})), "", "read a graph of thousands of graphs within each other")
}
