package certificate

import (
	"cmp"
	"context"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Coupling is what pairs of texts say of a sampler: the text of first-hitting and the sampler's
// own, drawn from the same random numbers at each position. Each text has its sampler's law,
// so that TV(P_FHS,P_N) is at most the probability that they differ, whatever the sampler is
// and however it draws; a position that is left masked differs. It is of [Config.Runs] pairs.
type Coupling struct {
	// Pairs and Apart count all pairs, and those that differ.
	Pairs, Apart int
	// Share estimates the probability that they differ, Limit is what it does not exceed with
	// the probability Confidence: exact (Clopper and Pearson).
	Share estimate.Estimate
	Limit float64
	// Calls counts the network's calls.
	Calls int
}

// Couple draws pairs on a canvas of ids, MASK at the free positions. First-hitting draws
// tokens as the sampler does. Of a Config it reads Runs, Seed, Batch and Confidence. A pair
// takes as many calls as its texts.
func Couple(ctx context.Context, net samplers.Network, canvas []int, s *catalog.Sampler, cfg Config) (Coupling, error) {
	var out Coupling
	switch {
	case cfg.Runs < 1:
		return out, fault.Errorf("certificate", "%d pairs: must be at least 1", cfg.Runs)
	case !slices.Contains(canvas, net.Spec().Mask):
		return out, fault.Errorf("certificate", "the canvas has no free position: mask at least one")
	}
	draw := s.Settings().Draw
	fhs, err := catalog.New(catalog.Options{Draw: draw}, net.Spec())
	if err != nil {
		return out, fault.Errorf("certificate", "%w", err)
	}
	texts := make([][2][]int, cfg.Runs)
	for k, method := range []*catalog.Sampler{fhs, s} {
		all := func(yield func(samplers.Sequence) bool) {
			for i := range texts {
				if !yield(samplers.Sequence{Index: uint64(i), Canvas: canvas}) {
					return
				}
			}
		}
		totals, err := samplers.Sample(ctx, net, all, samplers.Config{Method: method, Draw: draw, Seed: cfg.Seed, Batch: cfg.Batch}, func(r samplers.Result) error {
			texts[r.Index][k] = r.IDs
			return nil
		})
		out.Calls += totals.NetworkCalls
		if err != nil {
			return Coupling{}, err
		}
	}
	apart := make([]float64, len(texts))
	for i, pair := range texts {
		if !slices.Equal(pair[0], pair[1]) {
			apart[i] = 1
			out.Apart++
		}
	}
	out.Pairs, out.Share = len(texts), estimate.Mean(apart, cfg.Confidence)
	out.Limit = estimate.UpperLimitOfShare(out.Apart, out.Pairs, cmp.Or(cfg.Confidence, estimate.DefaultConfidence))
	return out, nil
}
