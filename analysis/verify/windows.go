package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"mdmgen/analysis/likelihood"
	"mdmgen/model"
	"mdmgen/samplers"
)

// windowsSchema is a file of exact likelihoods on windows of a text.
const windowsSchema = "mdm-windows/1"

// windowsFile is the content of such a file. Values are −log P in nats; null is an
// infinite one.
type windowsFile struct {
	Schema string  `json:"schema"`
	SHA256 string  `json:"model_safetensors_sha256"`
	D      int     `json:"d"`
	T      float64 `json:"T"`
	Delta  float64 `json:"delta"`
	// Windows are canvases of d tokens without context.
	Windows []struct {
		IDs         []int    `json:"ids"`
		NELBO       *float64 `json:"nelbo"`
		FHS         *float64 `json:"fhs"`
		LeftToRight *float64 `json:"left_to_right"`
		Grid        []struct {
			Sampler string   `json:"sampler"`
			N       int      `json:"N"`
			Leave   *float64 `json:"leave"`
			Denoise *float64 `json:"denoise"`
		} `json:"grid"`
	} `json:"windows"`
}

// windows recomputes a file of the schema mdm-windows/1: for each window, which is
// the whole canvas, the exact −log P of the first-hitting sampler, the NELBO, the
// chain from left to right, and −log P of grid samplers on N steps uniform in t from
// T to δ, α = e^(−t), masks left (leave) or filled by one more call (denoise).
// Differences are relative. An item of one value tells whether the weights are the
// file that the values are of; other weights may give the same values, so that this
// is a note and never a breach.
func windows(ctx context.Context, m model.Model, path string, data []byte, limit float64) ([]Item, error) {
	var f windowsFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.D < 1 || f.D > likelihood.MaxFree || len(f.Windows) == 0 {
		return nil, fmt.Errorf("%s: d is %d, %d windows: need at least one window of 1..%d positions", path, f.D, len(f.Windows), likelihood.MaxFree)
	}
	e, err := likelihood.New(m, likelihood.Options{})
	if err != nil {
		return nil, err
	}
	w := windowsCheck{file: &f, limit: limit, items: make(map[string]*comparison)}
	for i := range f.Windows {
		if err := w.window(ctx, e, i); err != nil {
			return nil, fmt.Errorf("%s: window %d: %w", path, i, err)
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

func (w *windowsCheck) add(name, path string, got float64, want *float64) {
	c := w.items[name]
	if c == nil {
		c = newComparison(name, Relative, w.limit)
		w.items[name], w.names = c, append(w.names, name)
	}
	value := math.Inf(1)
	if want != nil {
		value = *want
	}
	c.add(got, value, func() string { return path })
}

// window compares one window.
func (w *windowsCheck) window(ctx context.Context, e *likelihood.Evaluator, i int) error {
	win := &w.file.Windows[i]
	if len(win.IDs) != w.file.D {
		return fmt.Errorf("%d ids: must be d = %d", len(win.IDs), w.file.D)
	}
	t, err := e.Table(ctx, likelihood.Whole(win.IDs), false)
	if err != nil {
		return err
	}
	at := fmt.Sprintf("windows[%d].", i)
	w.add("nelbo", at+"nelbo", t.NELBO(), win.NELBO)
	w.add("fhs", at+"fhs", t.FHS(), win.FHS)
	w.add("left_to_right", at+"left_to_right", t.LeftToRight(), win.LeftToRight)
	for k, g := range win.Grid {
		if g.Sampler != "euler" && g.Sampler != "tweedie" {
			return fmt.Errorf("grid[%d]: sampler %q: must be euler or tweedie", k, g.Sampler)
		}
		s, err := samplers.New(samplers.Options{Sampler: g.Sampler, Grid: "uniform", Steps: g.N, Noise: "exp", T: &w.file.T, Delta: &w.file.Delta}, samplers.Conditions{})
		if err != nil {
			return fmt.Errorf("grid[%d]: %w", k, err)
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
	in, err := os.Open(filepath.Join(d.Origin().Reference, "model.safetensors"))
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
