package oracle

import (
	"context"
	"fmt"
	"strings"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/verify"
	"mdmgen/model"
	"mdmgen/samplers"
)

// windows recomputes a file of the schema mdm-windows/1: for each window, which is
// the whole canvas, the exact −log P of the first-hitting sampler, the NELBO, the
// chain from left to right, and −log P of grid samplers on N steps uniform in t from
// T to δ, α = e^(−t), masks left (leave) or filled by one more call (denoise).
// Differences are relative.
func windows(ctx context.Context, m model.Model, path string, data []byte, limit float64) ([]verify.Item, error) {
	f, err := readWindows(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	e, err := likelihood.New(m, likelihood.Options{})
	if err != nil {
		return nil, err
	}
	w := windowsCheck{file: f, limit: limit, items: make(map[string]*verify.Comparison)}
	for i := range f.Windows {
		if err := w.window(ctx, e, i); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			return nil, fmt.Errorf("%s: windows[%d]: %s", path, i, strings.ReplaceAll(err.Error(), "likelihood: ", ""))
		}
	}
	var items []verify.Item
	for _, name := range w.names {
		item, err := w.items[name].Finish()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		items = append(items, item)
	}
	return items, nil
}

// windowsCheck gathers items by the name of a field.
type windowsCheck struct {
	file  *windowsFile
	limit float64
	names []string
	items map[string]*verify.Comparison
}

func (w *windowsCheck) add(name, path string, got, want float64) {
	c := w.items[name]
	if c == nil {
		c = verify.NewComparison(name, verify.Relative, w.limit)
		w.items[name], w.names = c, append(w.names, name)
	}
	c.Add(got, want, func() string { return path })
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
