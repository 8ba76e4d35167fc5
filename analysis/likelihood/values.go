package likelihood

import (
	"context"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/subset"
)

// Values holds the exact values of a window, in nats. Values that are not computed are nil and
// omitted from JSON.
type Values struct {
	// Sampler is −log P of the given sampler.
	Sampler Exact `json:"-"`
	// NELBO, FHS, LeftToRight and ScoreEntropy come from the same rows.
	NELBO       *estimate.Number `json:"nelbo,omitempty"`
	FHS         *estimate.Number `json:"fhs,omitempty"`
	LeftToRight *estimate.Number `json:"left_to_right,omitempty"`
	// ScoreEntropy is the integrated score entropy computed from score values.
	ScoreEntropy *estimate.Number `json:"score_entropy,omitempty"`
	// Leave and Denoise are the two endings of a grid sampler.
	Leave   *estimate.Number `json:"leave,omitempty"`
	Denoise *estimate.Number `json:"denoise,omitempty"`
	Rows    int              `json:"-"`
}

// numbers lists the exact values but that of the sampler.
func (v *Values) numbers() []*estimate.Number {
	return []*estimate.Number{v.NELBO, v.FHS, v.LeftToRight, v.ScoreEntropy, v.Leave, v.Denoise}
}

// known returns a pointer to x as a Number.
func known(x float64) *estimate.Number { return new(estimate.Number(x)) }

// set stores the law of the sampler.
func (v *Values) set(x Exact) {
	if v.Sampler = x; x.Endings != nil {
		v.Leave, v.Denoise = known(x.Endings.Leave), known(x.Endings.Denoise)
	}
}

// entropyFree is the greatest number of free positions for which [Evaluator.Values] computes the
// score entropy from score values, which takes the masses of all rows.
const entropyFree = 10

// Values computes exact values of windows: the sampler's law and all values of one table of
// subsets. For a decoder without a plan, for a time-conditioned network, and if a window is too long
// for a table, it computes only the law.
func (e *Evaluator) Values(ctx context.Context, ts []Target, s *catalog.Sampler) ([]Values, error) {
	out := make([]Values, len(ts))
	if replays(s) || samplers.Is[samplers.ByCausal](s.Law()) {
		laws, err := e.unplanned(ctx, ts, []*catalog.Sampler{s})
		for i, x := range laws {
			out[i].Sampler, out[i].Rows = x[0], x[0].Rows
		}
		return out, err
	}
	if inner, size := e.insideBlocks(s); inner != nil {
		return out, e.blockValues(ctx, ts, inner, size, out)
	}
	long := slices.ContainsFunc(ts, func(t Target) bool { return len(t.Free) > subset.MaxFree })
	if e.facts.TimeConditioned || long {
		for i, t := range ts {
			before := e.totals.Rows
			law, err := e.Exact(ctx, t, s)
			if err != nil {
				return nil, err
			}
			out[i].set(law)
			out[i].Rows = e.totals.Rows - before
		}
		return out, nil
	}
	mass := !e.changed && !slices.ContainsFunc(ts, func(t Target) bool { return len(t.Free) > entropyFree })
	tables, laws, err := e.TableLaws(ctx, ts, []*catalog.Sampler{s}, mass)
	if err != nil {
		return nil, err
	}
	for i, t := range tables {
		v := &out[i]
		v.set(laws[i][0])
		v.Rows, v.NELBO, v.FHS, v.LeftToRight = t.Rows(), known(t.NELBO()), known(t.FHS()), known(t.LeftToRight())
		if mass {
			v.ScoreEntropy = known(t.ScoreEntropy().Raw)
		}
	}
	return out, nil
}
