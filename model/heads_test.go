package model_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// TestHeads opens models with heads, whose results agree with the rows, and models whose facts in
// force differ from those of their heads, which return only rows.
func TestHeads(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(dir string) error
		file   string // in the folder
		facts  map[string]string
		heads  bool
	}{
		{"a folder", nil, "", nil, true},
		{"its file", nil, graph.ModelFile, nil, true},
		{"another length", nil, "", map[string]string{"length": "4"}, true},
		{"other tokens", nil, "", map[string]string{"padding": "[3]"}, false},
		{"scores", nil, "", map[string]string{"output": "log_score"}, false},
		// Heads were once in separate files: a remaining one is not read.
		{"an old head", func(dir string) error { return os.WriteFile(filepath.Join(dir, "logprob.onnx"), nil, 0o600) }, "", nil, true},
		{"no manifest", func(dir string) error { return os.Remove(filepath.Join(dir, graph.ManifestFile)) }, "", nil, true},
	} {
		dir := model.Converted(t, "mdlm")
		if c.change != nil {
			reftest.OK(t, c.change(dir))
		}
		m := reftest.Must(open(t, filepath.Join(dir, c.file), model.Options{Override: c.facts}))(t, c.name)
		p, has := m.(model.LogProber)
		if _, draws := m.(samplers.Drawer); has != c.heads || draws != c.heads {
			t.Errorf("%s: log-probabilities %t, draws %t, want %t", c.name, has, draws, c.heads)
		}
		call, targets := samplers.Call{IDs: []int64{130, 7, 130, 2}, Positions: []int64{2, 0}, Counts: []int{2}}, []int64{9, 100}
		rows := reftest.Must(m.Logits(t.Context(), call))(t)
		if !has {
			continue
		}
		logMu, logMass := make([]float64, 2), make([]float64, 2)
		reftest.OK(t, p.LogProbs(t.Context(), call, targets, logMu, logMass))
		for i, a := range targets {
			var sum float64
			for _, x := range rows[i*131 : i*131+130] {
				sum += math.Exp(float64(x))
			}
			if want := float64(rows[i*131+int(a)]) - math.Log(sum); math.Abs(logMu[i]-want) > 1e-6 || math.Abs(logMass[i]) > 1e-12 {
				t.Errorf("%s: position %d: log μ is %v, want %v; log mass %v", c.name, call.Positions[i], logMu[i], want, logMass[i])
			}
		}
		drawn, d := make([]draw.Best, 2), samplers.Drawing{Uniforms: []float64{0.3, 0.9}, Temperatures: []float64{1, 0.5}, Top: 200}
		reftest.OK(t, m.(samplers.Drawer).Best(t.Context(), call, d, drawn))
		for i, got := range drawn {
			categorical := reftest.Must(draw.NewCategorical(m.Spec().Vocabulary, draw.Settings{Temperature: &d.Temperatures[i]}))(t)
			want := reftest.Must(categorical.Best(draw.Single(rows[i*131:(i+1)*131]), d.Uniforms[i], d.Top))(t)
			if got.Token != want.Token || len(got.Top) != 130 || got.Top[129].Token != want.Top[129].Token || !(math.Abs(got.LogP-want.LogP) < 1e-6) || !(math.Abs(got.Entropy-want.Entropy) < 1e-6) {
				t.Errorf("%s: position %d: token %d, log p %v, entropy %v, %d best: want %d, %v, %v, 130", c.name, i, got.Token, got.LogP, got.Entropy, len(got.Top), want.Token, want.LogP, want.Entropy)
			}
		}
		// Invalid input is an error as for rows, and so is an ended context.
		bad := call
		bad.IDs = []int64{130, 131, 130, 2}
		reftest.Fails(t, p.LogProbs(t.Context(), bad, targets, logMu, logMass), "id 131 at position 1", c.name)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.LogProbs(ctx, call, targets, logMu, logMass); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", c.name, err)
		}
	}
}

// TestHeadsClosed calls a closed model.
func TestHeadsClosed(t *testing.T) {
	m := reftest.Must(open(t, reftest.Data(t, "reference", "checkpoints", "radd"), model.Options{}))(t)
	reftest.OK(t, m.Close())
	x, call := make([]float64, 1), samplers.Call{IDs: []int64{1}, Positions: []int64{0}, Counts: []int{1}}
	if err := m.(model.LogProber).LogProbs(t.Context(), call, []int64{2}, x, x); !errors.Is(err, ort.ErrClosed) {
		t.Errorf("log-probabilities of a closed model: %v", err)
	}
	if err := m.(samplers.Drawer).Best(t.Context(), call, samplers.Drawing{Uniforms: x, Temperatures: x}, make([]draw.Best, 1)); !errors.Is(err, ort.ErrClosed) {
		t.Errorf("draws of a closed model: %v", err)
	}
	if _, err := m.Logits(t.Context(), call); !errors.Is(err, ort.ErrClosed) {
		t.Errorf("rows of a closed model: %v", err)
	}
}
