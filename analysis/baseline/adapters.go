package baseline

import (
	"context"
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
	"mdmgen/model/causal"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Causal is the distribution of a causal language model with the same tokens, which reads a window
// from left to right, after the token Begin if the first token of the window is free. If Begin is
// negative, such windows are an error. Columns of the model's softmax that the masked network lacks
// take their share, so the sum is 1 or slightly less, and bounds still hold.
type Causal struct {
	Model interface {
		LogProbs(ctx context.Context, windows []causal.Window) ([][]float64, error)
	}
	Begin int
}

// LogProb implements [Distribution].
func (c Causal) LogProb(ctx context.Context, windows []likelihood.Target) ([]float64, error) {
	texts := make([]causal.Window, len(windows))
	for i, w := range windows {
		texts[i] = causal.Window{IDs: w.IDs, From: w.Free[0]}
		if w.Free[0] > 0 {
			continue
		}
		if c.Begin < 0 {
			return nil, fault.Errorf("baseline", "window %d: a causal network gives no probability of the first token: give windows a context, or a tokenizer with an end-of-text token", i)
		}
		texts[i] = causal.Window{IDs: slices.Concat([]int{c.Begin}, w.IDs), From: 1}
	}
	logs, err := c.Model.LogProbs(ctx, texts)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(windows))
	for i, w := range windows {
		for _, l := range w.Free {
			out[i] += logs[i][l-w.Free[0]]
		}
	}
	return out, nil
}

// FirstHitting is the law of First-Hitting on another masked network with the same tokens: 2^d rows
// for a window with d free positions. It belongs to one goroutine.
type FirstHitting struct {
	Evaluator *likelihood.Evaluator
}

// LogProb implements [Distribution].
func (f FirstHitting) LogProb(ctx context.Context, windows []likelihood.Target) ([]float64, error) {
	fhs, err := catalog.New(catalog.Options{}, samplers.Spec{})
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(windows))
	for i, w := range windows {
		x, err := f.Evaluator.Exact(ctx, w, fhs)
		if err != nil {
			return nil, err
		}
		out[i] = -x.NegLog
	}
	return out, nil
}
