package likelihood

import (
	"context"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/profile"
	"mdmgen/samplers/catalog"
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
	// ScoreEntropy is the integrated score entropy computed from score values; ScoreEntropyNote is
	// the reason if it is missing because its quadrature does not converge.
	ScoreEntropy     *estimate.Number `json:"score_entropy,omitempty"`
	ScoreEntropyNote string           `json:"score_entropy_note,omitempty"`
	// Leave and Denoise are the two endings of a grid sampler.
	Leave   *estimate.Number `json:"leave,omitempty"`
	Denoise *estimate.Number `json:"denoise,omitempty"`
	// QuadratureError is the error of −log P of the sampler on a time-conditioned network.
	QuadratureError estimate.Number `json:"quadrature_error,omitempty"`
	// Terms are the per-count terms of the NELBO, nil if it is not computed.
	Terms *profile.Terms `json:"-"`
	Rows  int            `json:"-"`
}

// known returns a pointer to x as a Number.
func known(x float64) *estimate.Number { return new(estimate.Number(x)) }

// set stores the law of the sampler.
func (v *Values) set(x Exact) {
	v.Sampler, v.QuadratureError = x, estimate.Number(x.QuadratureError)
	if x.Grid != nil {
		v.Leave, v.Denoise = known(x.Grid.Leave), known(x.Grid.Denoise)
	}
}

// entropyFree is the greatest number of free positions for which [Evaluator.Values] computes the
// score entropy from score values, which takes the masses of all rows.
const entropyFree = 10

// Values computes exact values of windows: the sampler's law and all values of one table of
// subsets. For a decoder without a plan it computes only the law. For a time-conditioned network it
// computes the law and, if the sampler is FHS, whose quadrature has the necessary rows, the NELBO.
func (e *Evaluator) Values(ctx context.Context, ts []Target, s *catalog.Sampler) ([]Values, error) {
	out := make([]Values, len(ts))
	if replays(s) {
		return out, e.replayedValues(ctx, ts, s, out)
	}
	if inner, how, err := insideCache(s, e.model.Spec()); err != nil {
		return nil, err
	} else if inner != nil {
		for i, t := range ts {
			before := e.totals.Rows
			if out[i].Sampler.NegLog, err = e.cachedValue(ctx, t, inner, how); err != nil {
				return nil, err
			}
			out[i].Rows = e.totals.Rows - before
		}
		return out, nil
	}
	if inner := e.insideBlocks(s); inner != nil {
		return out, e.blockValues(ctx, ts, inner, out)
	}
	alone := isListed(s) && slices.ContainsFunc(ts, func(t Target) bool { return len(t.Free) > MaxFree })
	if e.facts.TimeConditioned || alone {
		for i, t := range ts {
			before := e.totals.Rows
			if err := e.timedValues(ctx, t, s, &out[i]); err != nil {
				return nil, err
			}
			out[i].Rows = e.totals.Rows - before
		}
		return out, nil
	}
	mass := !e.changed && !slices.ContainsFunc(ts, func(t Target) bool { return len(t.Free) > entropyFree })
	together := max(len(ts), 1)
	if looksBack(s) {
		together = 1 // Whole rows take much memory.
	}
	done := 0
	for group := range slices.Chunk(ts, together) {
		rows, err := e.rows(ctx, group, looksBack(s), mass)
		if err != nil {
			return nil, err
		}
		for i, t := range rows {
			v, before := &out[done], e.totals.Rows
			ask := lawAsker{e: e, ctx: ctx, target: group[i], shared: t}
			law, err := ask.law(s)
			if err != nil {
				return nil, err
			}
			v.set(law)
			v.Rows = t.Rows() + e.totals.Rows - before
			terms := t.Terms()
			v.NELBO, v.FHS, v.LeftToRight, v.Terms = known(t.NELBO()), known(t.FHS()), known(t.LeftToRight()), &terms
			if mass {
				v.ScoreEntropy = known(t.ScoreEntropy().Raw)
			}
			done++
		}
	}
	return out, nil
}

// replayedValues computes the values of a decoder without a plan.
func (e *Evaluator) replayedValues(ctx context.Context, ts []Target, s *catalog.Sampler, out []Values) error {
	s, err := e.withoutCache(s)
	if err != nil {
		return err
	}
	told, err := e.Replay(ctx, ts, []*catalog.Sampler{s})
	for i, x := range told {
		if x != nil {
			out[i].Sampler.NegLog, out[i].Rows = -x[0].LogP, x[0].Rows
		}
	}
	return err
}

func (e *Evaluator) timedValues(ctx context.Context, t Target, s *catalog.Sampler, v *Values) error {
	if law, _ := s.Law(); !law.FirstHitting() {
		law, err := e.Exact(ctx, t, s)
		v.set(law)
		return err
	}
	if err := e.Check(t); err != nil {
		return err
	}
	table, err := e.TimedTableWithin(ctx, t, 0, true)
	if err != nil {
		return err
	}
	fhs := table.FHS()
	v.set(Exact{NegLog: fhs.Value, QuadratureError: fhs.Error})
	terms := table.Terms()
	nelbo := table.NELBO()
	v.FHS, v.NELBO, v.Terms = known(fhs.Value), known(nelbo.Value), &terms
	v.QuadratureError = estimate.Number(max(fhs.Error, nelbo.Error))
	if entropy := table.ScoreEntropy(); !e.changed && entropy.Resolved() {
		v.ScoreEntropy = known(entropy.Raw)
	} else if !e.changed {
		v.ScoreEntropyNote = "not resolved: the integral of the raw scores does not converge by its quadrature, or has no limit"
	}
	return nil
}

// ExactRows returns the number of network rows that [Evaluator.Values] takes for a window with d
// free positions of a time-free network.
func ExactRows(d int) float64 { return math.Ldexp(1, d) }
