package graph

import (
	"os"
	"testing"
	"testing/fstest"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/ort"
	"mdmgen/model/ort/orttest"
)

// session opens a model, and skips the test on a machine without the runtime.
func session(t testing.TB, src ort.Source) *ort.Session {
	t.Helper()
	s, err := ort.Open(t.Context(), src, ort.Config{Log: func(line string) { t.Log(line) }})
	orttest.Opened(t, s, err)
	return s
}

func built(t testing.TB, c *checkpoint.Checkpoint, o Options) *ort.Session {
	t.Helper()
	m, err := Build(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return session(t, ort.Source{Bytes: m.Bytes, ExternalDir: m.ExternalDir})
}

func published(t testing.TB, name string) *checkpoint.Checkpoint {
	t.Helper()
	return opened(t, reftest.Data(t, "reference", "checkpoints", name))
}

func opened(t testing.TB, dir string) *checkpoint.Checkpoint {
	t.Helper()
	c, err := checkpoint.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func inMemory(t testing.TB, f fstest.MapFS) *checkpoint.Checkpoint {
	t.Helper()
	c, err := checkpoint.OpenFS(f, "memory")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// folder reads a checkpoint's folder, to be changed.
func folder(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	f := fstest.MapFS{}
	for _, name := range []string{"config.json", "model.safetensors"} {
		b, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		f[name] = &fstest.MapFile{Data: b}
	}
	return f
}

// call is one network call: rows canvases, and the wanted positions of each
// (nil for a full graph).
type call struct {
	rows           int
	ids, positions []int64
	sigma          []float32
}

// run returns the logits, [rows, wanted, columns].
func (c call) run(t testing.TB, s *ort.Session) []float32 {
	t.Helper()
	length := len(c.ids) / c.rows
	wanted := length
	in := []ort.Tensor{{Name: "input_ids", Shape: []int64{int64(c.rows), int64(length)}, Int64: c.ids}}
	if c.positions != nil {
		wanted = len(c.positions) / c.rows
		in = append(in, ort.Tensor{Name: "positions", Shape: []int64{int64(c.rows), int64(wanted)}, Int64: c.positions})
	}
	if c.sigma != nil {
		in = append(in, ort.Tensor{Name: "sigma", Shape: []int64{int64(c.rows)}, Float32: c.sigma})
	}
	columns := s.Outputs()[0].Shape[2]
	out := make([]float32, c.rows*wanted*int(columns))
	err := s.Run(t.Context(), in, []ort.Tensor{{Name: "logits", Shape: []int64{int64(c.rows), int64(wanted), columns}, Float32: out}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// everywhere returns the positions 0..length−1 for each row.
func everywhere(rows, length int) []int64 {
	p := make([]int64, rows*length)
	for i := range p {
		p[i] = int64(i % length)
	}
	return p
}

// distance returns the largest |a − b|.
func distance(t testing.TB, a, b []float32) float64 {
	t.Helper()
	if len(a) != len(b) || len(a) == 0 {
		t.Fatalf("%d numbers against %d", len(a), len(b))
	}
	worst := 0.0
	for i := range a {
		// Not below: NaN must not pass.
		if d := max(float64(a[i]-b[i]), float64(b[i]-a[i])); !(d <= worst) {
			worst = d
		}
	}
	return worst
}
