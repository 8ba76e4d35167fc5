package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/plainfile"
	"mdmgen/model"
	"mdmgen/samplers"
)

// windowsSchema is a file of exact likelihoods on windows of a text.
const windowsSchema = "mdm-windows/1"

// windows recomputes a file of the schema mdm-windows/1: for each window, which is
// the whole canvas, the exact −log P of the first-hitting sampler, the NELBO, the
// chain from left to right, and −log P of grid samplers on N steps uniform in t from
// T to δ, α = e^(−t), masks left (leave) or filled by one more call (denoise).
// Differences are relative. An item of one value tells whether the weights are the
// file that the values are of; other weights may give the same values, so that this
// is a note and never a breach.
func windows(ctx context.Context, m model.Model, path string, data []byte, limit float64) ([]Item, error) {
	f, err := readWindows(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	e, err := likelihood.New(m, likelihood.Options{})
	if err != nil {
		return nil, err
	}
	w := windowsCheck{file: f, limit: limit, items: make(map[string]*comparison)}
	for i := range f.Windows {
		if err := w.window(ctx, e, i); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			return nil, fmt.Errorf("%s: windows[%d]: %s", path, i, strings.ReplaceAll(err.Error(), "likelihood: ", ""))
		}
	}
	var items []Item
	for _, name := range w.names {
		item, err := w.items[name].finish()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		items = append(items, item)
	}
	note, err := f.weights(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return append(items, note), nil
}

// windowsCheck gathers items by the name of a field.
type windowsCheck struct {
	file  *windowsFile
	limit float64
	names []string
	items map[string]*comparison
}

func (w *windowsCheck) add(name, path string, got, want float64) {
	c := w.items[name]
	if c == nil {
		c = newComparison(name, Relative, w.limit)
		w.items[name], w.names = c, append(w.names, name)
	}
	c.add(got, want, func() string { return path })
}

// window compares one window.
func (w *windowsCheck) window(ctx context.Context, e *likelihood.Evaluator, i int) error {
	win := &w.file.Windows[i]
	t, err := e.Table(ctx, likelihood.Whole(win.IDs), false)
	if err != nil {
		return err
	}
	at := fmt.Sprintf("windows[%d].", i)
	w.add("nelbo", at+"nelbo", t.NELBO(), win.NELBO)
	w.add("fhs", at+"fhs", t.FHS(), win.FHS)
	w.add("left_to_right", at+"left_to_right", t.LeftToRight(), win.LeftToRight)
	for k, g := range win.Grid {
		s, err := samplers.New(samplers.Options{Sampler: g.Sampler, Grid: "uniform", Steps: g.N, Noise: "exp", T: &w.file.T, Delta: &w.file.Delta}, samplers.Spec{})
		if err != nil {
			return fmt.Errorf("grid[%d]: %s", k, strings.ReplaceAll(err.Error(), "samplers: ", ""))
		}
		steps, _ := s.Steps()
		law := t.Grid(steps)
		at := fmt.Sprintf("windows[%d].grid[%d].", i, k)
		w.add(g.Sampler+" leave", at+"leave", law.Leave, g.Leave)
		w.add(g.Sampler+" denoise", at+"denoise", law.Denoise, g.Denoise)
	}
	return nil
}

// weights tells whether the model is a folder with the weights that the file names.
func (f *windowsFile) weights(m model.Model) (Item, error) {
	item := Item{Name: "model_safetensors_sha256 (not told: the model is no checkpoint's folder)", Measure: Absolute, Count: 1, OK: true, Worst: Worst{Path: "model_safetensors_sha256"}}
	d, ok := m.(model.Describer)
	if !ok || f.SHA256 == "" {
		return item, nil
	}
	in, err := plainfile.Open(filepath.Join(d.Origin().Reference, "model.safetensors"))
	if errors.Is(err, fs.ErrNotExist) {
		return item, nil
	}
	if err != nil {
		return item, err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return item, err
	}
	item.Name = "model_safetensors_sha256 (the same weights)"
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		item.Name = "model_safetensors_sha256 (other weights than the file's)"
	}
	return item, nil
}
