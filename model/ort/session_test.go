package ort

import (
	"context"
	"errors"
	"testing"
)

// open opens a model with the library that the search or a fetch brings, and
// skips the test on a machine where neither is possible.
func open(t testing.TB, src Source) *Session {
	t.Helper()
	s, err := Open(t.Context(), src, Config{Log: func(line string) { t.Log(line) }})
	var missing *MissingError
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestRun(t *testing.T) {
	s := open(t, Source{Bytes: adder()})
	t.Logf("%+v, %d threads", s.Library(), s.Threads())
	z := make([]float32, 4)
	in := []Tensor{
		{Name: "y", Shape: []int64{2, 2}, Float32: []float32{10, 20, 30, 40}},
		{Name: "x", Shape: []int64{2, 2}, Float32: []float32{1, 2, 3, 4}},
	}
	out := []Tensor{{Name: "z", Shape: []int64{2, 2}, Float32: z}}
	if err := s.Run(context.Background(), in, out); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{11, 22, 33, 44} {
		if z[i] != want {
			t.Errorf("z[%d] = %v, want %v", i, z[i], want)
		}
	}
}
