package graph

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
)

// session opens a model, and skips the test if the runtime is missing.
func session(t testing.TB, src ort.Source) *ort.Session {
	t.Helper()
	s, err := ort.Open(t.Context(), src, ort.Config{Threads: 1, Search: library.Search{Log: func(line string) { t.Log(line) }}})
	orttest.Opened(t, s, err)
	return s
}

func built(t testing.TB, c *checkpoint.Checkpoint, o Options) *ort.Session {
	t.Helper()
	m := reftest.Must(Build(t.Context(), c, o))(t)
	return session(t, ort.Source{Bytes: m.Bytes, ExternalDir: m.ExternalDir})
}

// plains holds the sessions of [plain].
var plains = map[string]*ort.Session{}

// plain returns the session of a reference network without options, one for all tests.
func plain(t testing.TB, name string) *ort.Session {
	t.Helper()
	if plains[name] == nil {
		m := reftest.Must(Build(t.Context(), published(t, name), Options{}))(t)
		s, err := ort.Open(context.Background(), ort.Source{Bytes: m.Bytes}, orttest.OneThread)
		orttest.Need(t, err)
		reftest.OK(t, err)
		plains[name] = s
	}
	return plains[name]
}

// randoms holds the checkpoints of [random].
var randoms = map[string]*checkpoint.Checkpoint{}

// random returns a network of a config with random weights, one for all tests.
func random(t testing.TB, config string) *checkpoint.Checkpoint {
	t.Helper()
	if randoms[config] == nil {
		randoms[config] = inMemory(t, checkpointtest.Folder(config, "", checkpoint.F32, 5))
	}
	return randoms[config]
}

func published(t testing.TB, name string) *checkpoint.Checkpoint {
	t.Helper()
	return opened(t, reftest.Checkpoint(t, name))
}

func opened(t testing.TB, dir string) *checkpoint.Checkpoint {
	t.Helper()
	c := reftest.Must(checkpoint.Open(dir, ""))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

func inMemory(t testing.TB, f fstest.MapFS) *checkpoint.Checkpoint {
	t.Helper()
	return reftest.Must(checkpoint.OpenFS(f, "memory"))(t)
}

// folder reads the files of a checkpoint's folder, to be changed.
func folder(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	f := fstest.MapFS{}
	for _, name := range []string{"config.json", "model.safetensors"} {
		f[name] = &fstest.MapFile{Data: reftest.Must(os.ReadFile(dir + "/" + name))(t)}
	}
	return f
}

// call is one network call: the canvases, and the wanted positions of each (nil for a full graph).
type call struct {
	rows           int
	ids, positions []int64
	sigma          []float32
}

// drawn returns a call of random canvases, half of them masked, with all positions 0; shape is the
// number of rows, the length and the number of wanted positions.
func drawn(r *rand.Rand, f facts.Facts, shape [3]int) call {
	c := call{rows: shape[0], ids: make([]int64, shape[0]*shape[1]), positions: make([]int64, shape[0]*shape[2])}
	for i := range c.ids {
		if c.ids[i] = int64(f.MaskID); r.IntN(2) == 0 {
			c.ids[i] = r.Int64N(int64(f.Columns))
		}
	}
	if f.TimeConditioned {
		c.sigma = []float32{0.3, 1.5}
	}
	return c
}

// run returns the logits, [rows, wanted, columns].
func (c call) run(t testing.TB, s *ort.Session) []float32 {
	t.Helper()
	wanted := len(c.positions)
	if c.positions == nil {
		wanted = len(c.ids)
	}
	columns := s.Description().Outputs[0].Shape[len(s.Description().Outputs[0].Shape)-1]
	out := ort.Tensor{Name: "logits", Shape: []int64{int64(wanted), columns}, Float32: make([]float32, wanted*int(columns))}
	if c.positions == nil {
		out.Shape = []int64{int64(c.rows), int64(wanted / c.rows), columns}
		c.ask(t, s, nil, []ort.Tensor{out})
		return out.Float32
	}
	c.ask(t, s, []ort.Tensor{{Name: "take_rows", Shape: out.Shape[:1], Int64: everywhere(1, wanted)}}, []ort.Tensor{out})
	return out.Float32
}

// logProbs runs the head of log-probabilities at all wanted positions.
func (c call) logProbs(t testing.TB, s *ort.Session, targets []int64) (logMu, logMass []float64) {
	t.Helper()
	shape := []int64{int64(len(targets))}
	logMu, logMass = make([]float64, len(targets)), make([]float64, len(targets))
	c.ask(t, s, []ort.Tensor{{Name: "take_given", Shape: shape, Int64: everywhere(1, len(targets))}, {Name: "targets", Shape: shape, Int64: targets}},
		[]ort.Tensor{{Name: "log_mu", Shape: shape, Float64: logMu}, {Name: "log_mass", Shape: shape, Float64: logMass}})
	return logMu, logMass
}

// ask runs a graph with some of its heads' inputs and outputs; the others are empty.
func (c call) ask(t testing.TB, s *ort.Session, in, out []ort.Tensor) {
	t.Helper()
	of := func(n int) []int64 { return []int64{int64(c.rows), int64(n / c.rows)} }
	in = append(in, ort.Tensor{Name: "input_ids", Shape: of(len(c.ids)), Int64: c.ids})
	if c.positions != nil {
		in = append(in, ort.Tensor{Name: "positions", Shape: of(len(c.positions)), Int64: c.positions})
	}
	if c.sigma != nil {
		in = append(in, ort.Tensor{Name: "sigma", Shape: []int64{int64(c.rows)}, Float32: c.sigma})
	}
	if c.positions != nil {
		in = append(in, ort.Tensor{Name: "position_ids", Shape: of(len(c.ids)), Int64: everywhere(c.rows, len(c.ids)/c.rows)})
	}
	rest := func(have []ort.Tensor, all []ort.IO) []ort.Tensor {
		for _, io := range all {
			if !slices.ContainsFunc(have, func(x ort.Tensor) bool { return x.Name == io.Name }) {
				shape := slices.Clone(io.Shape)
				for i := range shape {
					shape[i] = max(shape[i], int64(i)) // [0], or [0, 1] if both dimensions are open
				}
				if len(shape) == 4 { // nothing is kept, for one canvas
					shape[0], shape[2], shape[3] = 1, min(io.Shape[2]+1, 2)/2, max(io.Shape[3], 0)
				}
				x := ort.Tensor{Name: io.Name, Shape: shape}
				if io.Name == "parts" {
					x.Int64 = []int64{0, 0}
				}
				if io.Name == "top" {
					x.Int64 = []int64{1}
				}
				have = append(have, x)
			}
		}
		return have
	}
	reftest.OK(t, s.Run(t.Context(), rest(in, s.Description().Inputs), rest(out, s.Description().Outputs)))
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
		// The form of the condition catches NaN.
		if d := max(float64(a[i]-b[i]), float64(b[i]-a[i])); !(d <= worst) {
			worst = d
		}
	}
	return worst
}
