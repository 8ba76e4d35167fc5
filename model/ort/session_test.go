package ort

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/internal/onnxpb"
	"mdmgen/model/ort/library"
)

// open opens a model with the library that is found or fetched, and skips the test if neither is
// possible.
func open(t testing.TB, src Source) *Session {
	t.Helper()
	s, err := Open(t.Context(), src, Config{Search: library.Search{Log: func(line string) { t.Log(line) }}})
	if errors.As(err, new(*library.MissingError)) {
		reftest.NoRuntime(t, err)
	}
	reftest.OK(t, err)
	t.Cleanup(func() {
		reftest.OK(t, s.Close())
	})
	return s
}

func vector(name string, x ...float32) Tensor {
	return Tensor{Name: name, Shape: []int64{int64(len(x))}, Float32: x}
}

func pairs(name string, x ...float32) Tensor {
	return Tensor{Name: name, Shape: []int64{int64(len(x) / 2), 2}, Float32: x}
}

func TestRun(t *testing.T) {
	s := open(t, Source{Bytes: adder()})
	// The number of rows differs from run to run, and names come in any order.
	for _, rows := range []int{1, 3, 3, 2} {
		x, y, z := make([]float32, 2*rows), make([]float32, 2*rows), make([]float32, 2*rows)
		for i := range x {
			x[i], y[i] = float32(i), float32(10*i)
		}
		reftest.OK(t, s.Run(t.Context(), []Tensor{pairs("y", y...), pairs("x", x...)}, []Tensor{pairs("z", z...)}))
		for i := range z {
			if want := float32(11 * i); z[i] != want {
				t.Errorf("%d rows: z[%d] = %v, want %v", rows, i, z[i], want)
			}
		}
	}
}

func TestSessionTellsWhatItIs(t *testing.T) {
	s := open(t, Source{Bytes: adder()})
	if got, want := s.Description().Inputs, []IO{{Name: "x", Type: "float32", Shape: []int64{-1, 2}}, {Name: "y", Type: "float32", Shape: []int64{-1, 2}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("Inputs = %v, want %v", got, want)
	}
	if got, want := s.Description().Outputs, []IO{{Name: "z", Type: "float32", Shape: []int64{-1, 2}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("Outputs = %v, want %v", got, want)
	}
	if got, want := s.Description().Metadata, map[string]string{"mdmgen": `{"a":1}`, "empty": ""}; !reflect.DeepEqual(got, want) {
		t.Errorf("Metadata = %v, want %v", got, want)
	}
	if got := s.Provider(); got != "cpu" {
		t.Errorf("Provider = %q, want cpu", got)
	}
	if l := s.Library(); l.Version == "" || l.Path == "" || l.Source == "" {
		t.Errorf("Library = %+v", l)
	}
	if got := s.Threads(); got < 1 {
		t.Errorf("Threads = %d", got)
	}
}

// TestRunReusesTensors checks that a repeated slice needs no new native tensor, and that the tensor
// uses the caller's memory.
func TestRunReusesTensors(t *testing.T) {
	s := open(t, Source{Bytes: unary("Identity", onnxpb.Int64, onnxpb.Int64)})
	x, z := []int64{1, 2, 3}, make([]int64, 3)
	in := []Tensor{{Name: "x", Shape: []int64{3}, Int64: x}}
	out := []Tensor{{Name: "z", Shape: []int64{3}, Int64: z}}
	run := func() {
		t.Helper()
		reftest.OK(t, s.Run(t.Context(), in, out))
		if !reflect.DeepEqual(x, z) {
			t.Fatalf("z = %v, want %v", z, x)
		}
	}
	run()
	first, objects := s.in[0].value, live.Load()
	for i := range int64(20) {
		x[0], x[2] = i, -i
		run()
	}
	if s.in[0].value != first || live.Load() != objects {
		t.Error("a repeated slice made a new tensor")
	}
	// Another length, then another slice.
	in[0].Shape, in[0].Int64, out[0].Shape, out[0].Int64 = []int64{2}, x[:2], []int64{2}, z[:2]
	run()
	if s.in[0].value == first || live.Load() != objects {
		t.Error("another shape kept the old tensor, or leaked it")
	}
}

func TestTypes(t *testing.T) {
	tests := []struct {
		name    string
		model   []byte
		in, out Tensor
		want    any
	}{
		{"float64 both ways", unary("Neg", onnxpb.Double, onnxpb.Double),
			Tensor{Float64: []float64{1.5, -2}}, Tensor{Float64: make([]float64, 2)}, []float64{-1.5, 2}},
		{"int64 into int32", unary("Cast", elemInt32, onnxpb.Int64, onnxpb.Attribute("to", onnxpb.Int64)),
			Tensor{Int64: []int64{7, -3}}, Tensor{Int64: make([]int64, 2)}, []int64{7, -3}},
		{"float32 into float64", unary("Cast", onnxpb.Double, onnxpb.Float, onnxpb.Attribute("to", onnxpb.Float)),
			Tensor{Float32: []float32{0.5, 3}}, Tensor{Float32: make([]float32, 2)}, []float32{0.5, 3}},
		{"float16 both ways", unary("Identity", onnxpb.Half, onnxpb.Half),
			Tensor{Float32: []float32{0.1, -65504}}, Tensor{Float32: make([]float32, 2)}, []float32{0.099975586, -65504}},
		{"float16 output", unary("Cast", onnxpb.Float, onnxpb.Half, onnxpb.Attribute("to", onnxpb.Half)),
			Tensor{Float32: []float32{1.0 / 3, 1e-6}}, Tensor{Float32: make([]float32, 2)}, []float32{0.33325195, 1.013279e-06}},
		{"bfloat16 output", unary("Cast", onnxpb.Float, 16, onnxpb.Attribute("to", 16)),
			Tensor{Float32: []float32{1.0 / 3, -2}}, Tensor{Float32: make([]float32, 2)}, []float32{0.33398438, -2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, Source{Bytes: tt.model})
			tt.in.Name, tt.in.Shape, tt.out.Name, tt.out.Shape = "x", []int64{2}, "z", []int64{2}
			// The second run reuses the staging slices of the first.
			for range 2 {
				reftest.OK(t, s.Run(t.Context(), []Tensor{tt.in}, []Tensor{tt.out}))
			}
			var got any = tt.out.Float32
			if tt.out.Int64 != nil {
				got = tt.out.Int64
			} else if tt.out.Float64 != nil {
				got = tt.out.Float64
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestOutputs requests one output of two.
func TestOutputs(t *testing.T) {
	g := graph{
		nodes: [][]byte{node("Neg", []string{"x"}, "minus"), node("Abs", []string{"x"}, "size")},
		in:    [][]byte{port("x", onnxpb.Float, -1)},
		out:   [][]byte{port("minus", onnxpb.Float, -1), port("size", onnxpb.Float, -1)},
	}
	s := open(t, Source{Bytes: g.bytes(), Outputs: []string{"size"}})
	z := make([]float32, 2)
	reftest.OK(t, s.Run(t.Context(), []Tensor{vector("x", 3, -4)}, []Tensor{vector("size", z...)}))
	reftest.Fails(t, reftest.Err(Open(t.Context(), Source{Bytes: g.bytes(), Outputs: []string{"logits"}}, Config{})), "[minus size]", "an output that is not there")
}

// TestExternalData stores the weights in a file next to the model, and in a folder that a link
// points to.
func TestExternalData(t *testing.T) {
	g := graph{
		nodes: [][]byte{node("Add", []string{"x", "w"}, "z")},
		inits: [][]byte{external("w", "w.bin", 2)},
		in:    [][]byte{port("x", onnxpb.Float, -1, 2)},
		out:   [][]byte{port("z", onnxpb.Float, -1, 2)},
	}
	dir := filepath.Join(t.TempDir(), "data")
	reftest.OK(t, os.Mkdir(dir, 0o755))
	for name, data := range map[string][]byte{"w.bin": {0, 0, 0x80, 0x3F, 0, 0, 0, 0x40}, "model.onnx": g.bytes()} {
		reftest.OK(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		link = dir
	}
	for name, src := range map[string]Source{
		"file":  {Path: filepath.Join(dir, "model.onnx")},
		"bytes": {Bytes: g.bytes(), ExternalDir: link},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, src)
			z := make([]float32, 2)
			reftest.OK(t, s.Run(t.Context(), []Tensor{pairs("x", 10, 20)}, []Tensor{pairs("z", z...)}))
			if z[0] != 11 || z[1] != 22 {
				t.Errorf("z = %v, want [11 22]", z)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		open(t, Source{Bytes: adder()})
		before := live.Load()
		reftest.FailsInLine(t, reftest.Err(Open(t.Context(), Source{Bytes: g.bytes(), ExternalDir: t.TempDir()}, Config{})), "", "data that are not there")
		if live.Load() != before {
			t.Error("a failed Open left native objects")
		}
	})
}

// TestSessionsSideBySide runs two sessions in parallel.
func TestSessionsSideBySide(t *testing.T) {
	a, b := open(t, Source{Bytes: adder()}), open(t, Source{Bytes: linear(64, 1)})
	done := make(chan error)
	work := func(s *Session, in, out []Tensor) {
		for range 200 {
			if err := s.Run(context.Background(), in, out); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}
	z := make([]float32, 64)
	go work(a, []Tensor{pairs("x", 1, 2), pairs("y", 3, 4)}, []Tensor{pairs("z", make([]float32, 2)...)})
	go work(b, []Tensor{{Name: "x", Shape: []int64{1, 64}, Float32: make([]float32, 64)}}, []Tensor{{Name: "z", Shape: []int64{1, 64}, Float32: z}})
	for range 2 {
		reftest.OK(t, <-done)
	}
}
