package likelihood

import (
	"context"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// Draw is what tokens are drawn from in the law that is evaluated.
func (e *Evaluator) Draw() draw.Settings { return e.opts.Draw }

// FullSupport reports whether every token of the model has a positive probability in every
// row, so that all laws of samplers that leave no mask have the same support: all
// sequences. It is false where a draw is truncated or greedy, and for a world with a
// probability of 0. Rows of a network are a softmax of finite logits.
func (e *Evaluator) FullSupport() bool {
	o := e.opts.Draw
	if o.Temperature != nil && *o.Temperature == 0 || o.TopK > 0 || o.TopP > 0 && o.TopP < 1 || o.SuppressTokens != "" {
		return false
	}
	w, ok := e.model.(table)
	if !ok {
		return true
	}
	mu0, mu1, _, _ := w.Mixture()
	for _, mu := range [][]float64{mu0, mu1} {
		for row := range slices.Chunk(mu, e.facts.Columns) {
			// A row without any probability is of a visible position.
			if slices.Contains(row, 0) && slices.Max(row) > 0 {
				return false
			}
		}
	}
	return true
}

// Sample draws texts of a sampler whose tokens at the free positions are random and at
// the others those of t; the tokens of t at free positions are ignored. Text i has
// the stream (seed, first+i): it does not depend on the others, as far as the
// network's rows do not. A position that the sampler leaves masked has the mask's id.
func (e *Evaluator) Sample(ctx context.Context, t Target, s *catalog.Sampler, seed uint64, first, n int) ([][]int, samplers.Totals, error) {
	canvas, err := e.canvasOf(t)
	if err != nil {
		return nil, samplers.Totals{}, err
	}
	out := make([][]int, n)
	totals, err := samplers.Sample(ctx, e.model, samplers.Copies(canvas, uint64(first), n), samplers.Config{
		Method: s, Seed: seed, Batch: max(1, batchTokens/len(canvas)),
	}, func(r samplers.Result) error {
		out[int(r.Index)-first] = r.IDs
		return nil
	})
	return out, totals, err
}

// canvasOf masks the free positions of a target, which it checks with some clean token
// at them.
func (e *Evaluator) canvasOf(t Target) ([]int, error) {
	clean := 0
	for _, id := range e.excluded { // ascending
		if id == clean {
			clean++
		}
	}
	canvas := slices.Clone(t.IDs)
	for _, l := range t.Free {
		if l >= 0 && l < len(canvas) {
			canvas[l] = clean
		}
	}
	checked := Target{IDs: canvas, Free: t.Free}
	if err := e.Check(checked); err != nil {
		return nil, err
	}
	return checked.Canvas(e.facts.MaskID), nil
}
