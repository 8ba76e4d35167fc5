package likelihood

import (
	"context"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// Draw returns the settings for drawing tokens in the evaluated law.
func (e *Evaluator) Draw() draw.Settings { return e.opts.Draw }

// FullSupport reports whether every token has a positive probability in every row of the model, so
// that the laws of all samplers that leave no mask have the same support: all sequences. It returns
// false if draws are truncated or greedy, and for a world with a probability of 0. A network's rows
// are the softmax of finite logits.
func (e *Evaluator) FullSupport() bool {
	o := e.opts.Draw
	if o.Temperature != nil && *o.Temperature == 0 || o.TopK > 0 || o.TopP > 0 && o.TopP < 1 || o.SuppressTokens != "" {
		return false
	}
	w, ok := e.model.(interface {
		Mixture() (mu0, mu1 []float64, c, p float64)
	})
	if !ok {
		return true
	}
	mu0, mu1, _, _ := w.Mixture()
	for row := range slices.Chunk(slices.Concat(mu0, mu1), e.facts.Columns) {
		// A row of zeros belongs to a visible position.
		if slices.Contains(row, 0) && slices.Max(row) > 0 {
			return false
		}
	}
	return true
}

// Sample draws texts of a sampler: the tokens at the free positions are random, the others are
// those of t, whose tokens at free positions are ignored. Text i uses the stream (seed,
// indices[i]); indices must differ. It does not depend on the other texts, as far as the network's
// rows do not. A position that the sampler leaves masked has the mask's id.
func (e *Evaluator) Sample(ctx context.Context, t Target, s *catalog.Sampler, seed uint64, first, n int) ([][]int, samplers.Totals, error) {
	if err := e.checkShape(t); err != nil {
		return nil, samplers.Totals{}, err
	}
	canvas, out := t.Canvas(e.facts.MaskID), make([][]int, n)
	totals, err := samplers.Sample(ctx, e.model, samplers.Copies(canvas, uint64(first), n), samplers.Config{
		Method: s, Seed: seed, Batch: max(1, batchTokens/len(canvas)),
	}, func(r samplers.Result) error {
		out[int(r.Index)-first] = r.IDs
		return nil
	})
	return out, totals, err
}
