package quality

import (
	"context"
	"slices"

	"mdmgen/analysis/likelihood"
)

// selfTexts is the number of texts scored between checks of the context.
const selfTexts = 16

// Self estimates the NELBO of samples under an evaluator's model, usually the model that drew them.
// Text i of ts has the index i, which determines its draws together with the seed. Each text takes
// draws network rows; cfg.Form is free. A sequence with masks left has no likelihood and is
// omitted.
func Self(ctx context.Context, e *likelihood.Evaluator, ts []likelihood.Target, cfg likelihood.Config) (out []likelihood.Scored, err error) {
	mask := e.Facts().MaskID
	for from := 0; from < len(ts); from++ {
		to := from
		for to < len(ts) && to-from < selfTexts && !slices.Contains(ts[to].IDs, mask) {
			to++
		}
		if to == from { // masks are left
			continue
		}
		results, err := e.Estimate(ctx, ts[from:to], uint64(from), cfg)
		if err != nil {
			return nil, err
		}
		for i, r := range results {
			out = append(out, likelihood.Scored{Nats: r.Nats, Tokens: len(ts[from+i].Free), Bytes: -1})
		}
		from = to - 1
	}
	return out, nil
}
