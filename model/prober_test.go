package model_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
)

// converted writes a small checkpoint as an ONNX folder.
func converted(t *testing.T, name string) string {
	t.Helper()
	c, err := checkpoint.Open(reftest.Data(t, "reference", "checkpoints", name))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	dir := filepath.Join(t.TempDir(), name)
	if err := graph.Write(t.Context(), c, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOutlets opens models for log-probabilities: those that have the outlet give them,
// and rows too, which say the same; the others give rows, and their origin says so.
func TestOutlets(t *testing.T) {
	remove := func(name string) func(string) error {
		return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
	}
	whole := func(string) error { return nil }
	for _, c := range []struct {
		name   string
		change func(dir string) error
		file   string // in the folder
		facts  map[string]string
		want   model.Outlet
	}{
		{"a folder", whole, "", nil, model.LogProbability},
		{"its file", whole, graph.ModelFile, nil, model.LogProbability},
		{"another length", whole, "", map[string]string{"length": "4"}, model.LogProbability},
		{"no file of the outlet", remove(graph.LogProbFile), "", nil, model.Rows},
		{"other tokens", whole, "", map[string]string{"padding": "[3]"}, model.Rows},
		{"scores", whole, "", map[string]string{"output": "log_score"}, model.Rows},
		{"no manifest", remove(graph.ManifestFile), "", nil, model.Rows},
	} {
		dir := converted(t, "mdlm")
		if err := c.change(dir); err != nil {
			t.Fatal(err)
		}
		m, err := open(t, filepath.Join(dir, c.file), model.Options{Outlet: model.LogProbability, Override: c.facts})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p, has := m.(model.LogProber)
		if got := m.(model.Describer).Origin().Outlet; got != c.want || has != (c.want == model.LogProbability) {
			t.Errorf("%s: outlet %q, log-probabilities %t, want %q", c.name, got, has, c.want)
		}
		ids, positions, targets := []int64{130, 7, 130, 2}, []int64{2, 0}, []int64{9, 100}
		rows, err := m.Logits(t.Context(), 1, ids, positions, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !has {
			continue
		}
		logMu, logMass := make([]float64, 2), make([]float64, 2)
		if err := p.LogProbs(t.Context(), 1, ids, positions, targets, nil, logMu, logMass); err != nil {
			t.Fatal(err)
		}
		for i, a := range targets {
			var sum float64
			for _, x := range rows[i*131 : i*131+130] {
				sum += math.Exp(float64(x))
			}
			if want := float64(rows[i*131+int(a)]) - math.Log(sum); math.Abs(logMu[i]-want) > 1e-6 || math.Abs(logMass[i]) > 1e-12 {
				t.Errorf("%s: position %d: log μ is %v, want %v; log mass %v", c.name, positions[i], logMu[i], want, logMass[i])
			}
		}
		// What a network cannot take is an error as for rows, an ended context too.
		bad := slices.Clone(ids)
		bad[1] = 131
		if err := p.LogProbs(t.Context(), 1, bad, positions, targets, nil, logMu, logMass); err == nil || !strings.Contains(err.Error(), "id 131 at position 1") {
			t.Errorf("%s: id 131: %v", c.name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.LogProbs(ctx, 1, ids, positions, targets, nil, logMu, logMass); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", c.name, err)
		}
	}
}

// TestOutletSidecar: a sidecar is read once, as a pipe wants; the session of rows, which is
// opened later, has the facts of the first.
func TestOutletSidecar(t *testing.T) {
	sidecar := filepath.Join(t.TempDir(), "facts.json")
	if err := os.WriteFile(sidecar, []byte(`{"length":3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := open(t, reftest.Data(t, "reference", "checkpoints", "mdlm"), model.Options{Outlet: model.LogProbability, Sidecar: sidecar})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(sidecar); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Logits(t.Context(), 1, []int64{130, 7, 130}, []int64{0}, nil); err != nil {
		t.Error(err)
	}
	if _, err := m.Logits(t.Context(), 1, []int64{130, 7, 130, 2}, []int64{0}, nil); err == nil || !strings.Contains(err.Error(), "at most 3") {
		t.Errorf("a canvas of 4: %v", err)
	}
}

// TestOutletClosed asks a closed model: nothing is opened again.
func TestOutletClosed(t *testing.T) {
	m, err := open(t, reftest.Data(t, "reference", "checkpoints", "radd"), model.Options{Outlet: model.LogProbability})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 1)
	if err := m.(model.LogProber).LogProbs(t.Context(), 1, []int64{1}, []int64{0}, []int64{2}, nil, x, x); !errors.Is(err, ort.ErrClosed) {
		t.Errorf("log-probabilities of a closed model: %v", err)
	}
	if _, err := m.Logits(t.Context(), 1, []int64{1}, []int64{0}, nil); !errors.Is(err, ort.ErrClosed) {
		t.Errorf("rows of a closed model: %v", err)
	}
}

// TestOutletChangedFiles opens rows of a checkpoint whose files are not what they were.
func TestOutletChangedFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"config.json", "model.safetensors"} {
		data, err := os.ReadFile(reftest.Data(t, "reference", "checkpoints", "radd", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m, err := open(t, dir, model.Options{Outlet: model.LogProbability})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config.json")
	data, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, append(data, '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Logits(t.Context(), 1, []int64{1}, []int64{0}, nil); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("rows of changed files: %v", err)
	}
}
