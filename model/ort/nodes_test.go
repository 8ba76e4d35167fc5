package ort

import (
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
)

// truth returns a TensorProto of one bool.
func truth(name string) []byte {
	return message{}.num(2, elemBool).str(8, name).sub(9, []byte{1})
}

// loop repeats z = −x while its condition, which never changes, is true.
func loop() []byte {
	body := graph{
		nodes: [][]byte{node("Identity", []string{"go"}, "again"), node("Neg", []string{"v"}, "w")},
		in:    [][]byte{port("i", elemInt64), port("go", elemBool), port("v", elemFloat32, -1)},
		out:   [][]byte{port("again", elemBool), port("w", elemFloat32, -1)},
	}
	return graph{
		nodes: [][]byte{node("Loop", []string{"", "yes", "x"}, "z", message{}.str(1, "body").sub(6, body.body()).num(20, 5))},
		inits: [][]byte{truth("yes")},
		in:    [][]byte{port("x", elemFloat32, -1)},
		out:   [][]byte{port("z", elemFloat32, -1)},
	}.bytes()
}

// TestEndlessLoop checks that an endless call is stopped at a limit that was logged, and that the
// session still works.
func TestEndlessLoop(t *testing.T) {
	before := loopBase
	loopBase = 200 * time.Millisecond
	defer func() { loopBase = before }()
	var told []string
	s, err := Open(t.Context(), Source{Bytes: loop()}, Config{Log: func(line string) { told = append(told, line) }})
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
		return graph{nodes: nodes, in: [][]byte{port("x", elemFloat32, -1)}, out: [][]byte{port("z", elemFloat32, -1)}}
	}
	within := func(op string, field int64) []byte {
		body := message{}.str(1, "body").num(20, 5)
		if field == 6 {
			return node("If", []string{"x"}, "z", body.sub(6, one(node(op, []string{"x"}, "z")).body()))
		}
		return node("If", []string{"x"}, "z", body.sub(11, one(node(op, []string{"x"}, "z")).body()))
	}
	dropout := node("Dropout", []string{"x", "", "train"}, "z")
	for _, test := range []struct {
		name  string
		model []byte
		want  string
	}{
		{"normal", unary("RandomNormal", elemFloat32, elemFloat32), "node RandomNormal"},
		{"normal like", unary("RandomNormalLike", elemFloat32, elemFloat32), "node RandomNormalLike"},
		{"uniform", unary("RandomUniform", elemFloat32, elemFloat32), "node RandomUniform"},
		{"uniform like", unary("RandomUniformLike", elemFloat32, elemFloat32), "node RandomUniformLike"},
		{"multinomial", unary("Multinomial", elemFloat32, elemFloat32), "node Multinomial"},
		{"bernoulli", unary("Bernoulli", elemFloat32, elemFloat32), "node Bernoulli"},
		{"by name", one(message(node("Bernoulli", []string{"x"}, "z")).str(3, "noise")).bytes(), "node noise (Bernoulli)"},
		{"training", one(dropout).bytes(), "node Dropout"},
		{"in a branch", one(within("Bernoulli", 6)).bytes(), "node Bernoulli"},
		{"in branches", one(within("Bernoulli", 11)).bytes(), "node Bernoulli"},
		{"in a function", message(one(node("Mine", []string{"x"}, "z")).bytes()).sub(25, message{}.sub(7, node("Bernoulli", []string{"x"}, "z"))), "node Bernoulli"},
		{"inference", unary("Dropout", elemFloat32, elemFloat32), ""},
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
		deep = node("If", []string{"x"}, "z", message{}.sub(6, message{}.sub(1, deep)))
		if len(deep) > 1<<16 {
			break
		}
	}
	reftest.Fails(t, reftest.Err(Describe(Source{Bytes: one(deep).bytes()})), "", "read a graph of thousands of graphs within each other")
}
