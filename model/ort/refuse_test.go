package ort

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/model/internal/onnxpb"
)

// TestRunRefuses passes wrong tensors. Each error is one line that names the tensor, and the
// session works afterwards.
func TestRunRefuses(t *testing.T) {
	s := open(t, Source{Bytes: adder()})
	x, y, z := pairs("x", 1, 2), pairs("y", 3, 4), pairs("z", 0, 0)
	with := func(t Tensor, f func(*Tensor)) Tensor { f(&t); return t }
	tests := []struct {
		name    string
		in, out []Tensor
		want    string
	}{
		{"no input", nil, []Tensor{z}, "input x is not given"},
		{"missing input", []Tensor{x}, []Tensor{z}, "input y is not given"},
		{"missing output", []Tensor{x, y}, nil, "output z is not given"},
		{"wrong rank", []Tensor{vector("x", 1, 2), y}, []Tensor{z}, "run: "},
		{"wrong size", []Tensor{x, {Name: "y", Shape: []int64{1, 3}, Float32: make([]float32, 3)}}, []Tensor{z}, "run: "},
		{"too few values", []Tensor{with(x, func(t *Tensor) { t.Float32 = t.Float32[:1] }), y}, []Tensor{z}, "input x: "},
		{"no values", []Tensor{with(x, func(t *Tensor) { t.Float32 = nil }), y}, []Tensor{z}, "input x: "},
		{"wrong type", []Tensor{with(x, func(t *Tensor) { t.Float32, t.Int64 = nil, []int64{1, 2} }), y}, []Tensor{z}, "input x: the network has float32, which int64 cannot pass"},
		{"wrong output type", []Tensor{x, y}, []Tensor{with(z, func(t *Tensor) { t.Float32, t.Float64 = nil, []float64{1, 2} })}, "output z: the network has float32, which float64 cannot pass"},
		{"negative dimension", []Tensor{with(x, func(t *Tensor) { t.Shape = []int64{-1, 2} }), y}, []Tensor{z}, "input x: "},
		{"huge shape", []Tensor{with(x, func(t *Tensor) { t.Shape = []int64{1 << 40, 1 << 40} }), y}, []Tensor{z}, "input x: "},
		{"overflow to the right length", []Tensor{with(x, func(t *Tensor) { t.Shape = []int64{1<<63 - 1, 2} }), y}, []Tensor{z}, "input x: "},
		{"no dimensions", []Tensor{with(x, func(t *Tensor) { t.Shape, t.Float32 = nil, t.Float32[:1] }), y}, []Tensor{z}, "input x: "},
		{"output of other rows", []Tensor{x, y}, []Tensor{pairs("z", 0, 0, 0, 0)}, "run: "},
		{"inputs that do not fit", []Tensor{pairs("x", 1, 2, 3, 4, 5, 6), pairs("y", 1, 2, 3, 4)}, []Tensor{z}, "run: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reftest.FailsInLine(t, s.Run(t.Context(), tt.in, tt.out), tt.want)
			if err := s.Run(t.Context(), []Tensor{x, y}, []Tensor{z}); err != nil || z.Float32[0] != 4 {
				t.Errorf("afterwards: z = %v, %v", z.Float32, err)
			}
		})
	}
}

func TestRunRefusesLargeIDs(t *testing.T) {
	s := open(t, Source{Bytes: unary("Cast", elemInt32, onnxpb.Int64, onnxpb.Attribute("to", onnxpb.Int64))})
	in := Tensor{Name: "x", Shape: []int64{1}, Int64: []int64{1 << 31}}
	err := s.Run(t.Context(), []Tensor{in}, []Tensor{{Name: "z", Shape: []int64{1}, Int64: make([]int64, 1)}})
	reftest.Fails(t, err, "input x: value 2147483648 does not fit")
}

func TestOpenRefuses(t *testing.T) {
	open(t, Source{Bytes: adder()}) // skips if there is no library
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		reftest.OK(t, os.WriteFile(path, data, 0o644))
		return path
	}
	unknown := graph{
		nodes: [][]byte{node("NoSuchOperator", []string{"x"}, "z")},
		in:    [][]byte{port("x", onnxpb.Float, -1)}, out: [][]byte{port("z", onnxpb.Float, -1)},
	}.bytes()
	tests := []struct {
		name string
		src  Source
		cfg  Config
		want string
	}{
		{"nothing", Source{}, Config{}, "it is not an ONNX model"},
		{"garbage", Source{Bytes: []byte("not a model at all")}, Config{}, "it is not an ONNX model"},
		{"truncated", Source{Bytes: adder()[:60]}, Config{}, "it is not an ONNX model"},
		{"garbage file", Source{Path: file("a.onnx", []byte("PK\x03\x04 nonsense"))}, Config{}, "a.onnx: it is not an ONNX model"},
		{"empty file", Source{Path: file("b.onnx", nil)}, Config{}, "b.onnx: it is not an ONNX model"},
		{"folder", Source{Path: dir}, Config{}, "it is not an ONNX model"},
		{"no such file", Source{Path: filepath.Join(dir, "none.onnx")}, Config{}, "none.onnx: no such file"},
		{"file and bytes", Source{Path: "x", Bytes: adder()}, Config{}, "as a file and as bytes: give one"},
		{"no inputs", Source{Bytes: graph{out: [][]byte{port("z", onnxpb.Float, 1)}}.bytes()}, Config{}, "0 inputs and 1 outputs"},
		{"unknown operator", Source{Bytes: unknown}, Config{}, "NoSuchOperator"},
		{"threads", Source{Bytes: adder()}, Config{Threads: -1}, "-1 threads"},
		{"device", Source{Bytes: adder()}, Config{Device: "gpu"}, `device "gpu": must be cpu, cuda, cuda:N or auto`},
		{"device number", Source{Bytes: adder()}, Config{Device: "cuda:-1"}, "must be cpu, cuda, cuda:N or auto"},
		{"folder of data", Source{Bytes: adder(), ExternalDir: filepath.Join(dir, "none")}, Config{}, "folder of external data"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := live.Load()
			s, err := Open(t.Context(), tt.src, tt.cfg)
			if s != nil || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %v, want %q in it", err, tt.want)
			}
			if got := live.Load(); got != before {
				t.Errorf("%d native objects were left", got-before)
			}
		})
	}
	if _, err := Open(t.Context(), Source{Path: filepath.Join(dir, "none.onnx")}, Config{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is not fs.ErrNotExist: %v", err)
	}
}

func TestClose(t *testing.T) {
	s := open(t, Source{Bytes: adder()})
	for i := range 2 {
		reftest.OK(t, s.Close(), "Close", i+1)
	}
	err := s.Run(t.Context(), []Tensor{pairs("x", 1, 2), pairs("y", 3, 4)}, []Tensor{pairs("z", 0, 0)})
	if !errors.Is(err, ErrClosed) {
		t.Errorf("Run after Close: %v", err)
	}
	if len(s.Description().Inputs) != 2 || s.Provider() != "cpu" {
		t.Error("a closed session has forgotten what it was")
	}
}

// TestCancel cancels a run that would take many seconds, and runs again.
func TestCancel(t *testing.T) {
	s := open(t, Source{Bytes: slow(600)})
	const n = 512
	big := []Tensor{{Name: "x", Shape: []int64{n, n}, Float32: make([]float32, n*n)}}
	bigOut := []Tensor{{Name: "z", Shape: []int64{n, n}, Float32: make([]float32, n*n)}}
	one := []Tensor{{Name: "x", Shape: []int64{1, 1}, Float32: []float32{1}}}
	oneOut := []Tensor{{Name: "z", Shape: []int64{1, 1}, Float32: make([]float32, 1)}}
	goroutines := runtime.NumGoroutine()
	for range 3 {
		const after = 50 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), after)
		begin := time.Now()
		err := s.Run(ctx, big, bigOut)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a run with a deadline: %v after %v", err, time.Since(begin))
		}
		late := time.Since(begin) - after
		t.Logf("stopped %v after the deadline", late)
		if late > 2*time.Second {
			t.Errorf("it took %v to stop", late)
		}
		// A context that can end but does not has no later effect.
		ctx, cancel = context.WithCancel(t.Context())
		if err := s.Run(ctx, one, oneOut); err != nil || oneOut[0].Float32[0] != 1 {
			t.Errorf("after a stopped run: %v, %v", oneOut[0].Float32, err)
		}
		cancel()
		if err := s.Run(ctx, one, oneOut); !errors.Is(err, context.Canceled) {
			t.Errorf("a run with an ended context: %v", err)
		}
	}
	reftest.OK(t, s.Run(context.Background(), one, oneOut))
	for range 100 {
		if runtime.NumGoroutine() <= goroutines {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines were left", runtime.NumGoroutine()-goroutines)
}
