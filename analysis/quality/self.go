package quality

import (
	"context"
	"slices"

	"mdmgen/analysis/likelihood"
)

// selfTexts is how many texts are scored between two looks at the context.
const selfTexts = 16

// Self estimates the NELBO of samples under the model that an evaluator asks, which for
// samples of that very model is the NELBO of samples under the model itself: text i of ts
// has the index first+i, which with the seed determines its draws, so that a study can be
// taken up anywhere. Each text takes draws network rows; cfg.Form is free.
//
// A sequence with masks left has no likelihood: its Tokens are 0, and
// [likelihood.Summarize] must be given the others, which [Scorable] picks.
func Self(ctx context.Context, e *likelihood.Evaluator, ts []likelihood.Target, first uint64, cfg likelihood.Config) ([]likelihood.Scored, error) {
	out := make([]likelihood.Scored, len(ts))
	mask := e.Facts().MaskID
	for from := 0; from < len(ts); {
		to := from
		for to < len(ts) && to-from < selfTexts && !slices.Contains(ts[to].IDs, mask) {
			to++
		}
		if to == from { // masks are left
			out[from].Bytes = -1
			from++
			continue
		}
		results, err := e.Estimate(ctx, ts[from:to], first+uint64(from), cfg)
		if err != nil {
			return nil, err
		}
		for i, r := range results {
			out[from+i] = likelihood.Scored{Nats: r.Nats, Tokens: len(ts[from+i].Free), Bytes: -1}
		}
		from = to
	}
	return out, nil
}

// Scorable are the texts that have a likelihood.
func Scorable(texts []likelihood.Scored) []likelihood.Scored {
	return slices.DeleteFunc(slices.Clone(texts), func(x likelihood.Scored) bool { return x.Tokens == 0 })
}
