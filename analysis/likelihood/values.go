package likelihood

import (
	"context"
	"math"

	"mdmgen/analysis/profile"
	"mdmgen/samplers/catalog"
)

// Values are the exact numbers of a window, in nats; nil where one is not worked out.
type Values struct {
	// Sampler is −log P of the sampler that was asked about.
	Sampler Exact
	// NELBO, FHS, LeftToRight and ScoreEntropy come from the same rows.
	NELBO, FHS, LeftToRight, ScoreEntropy *float64
	// Terms are the per-count terms of the NELBO, nil where it is not worked out.
	Terms *profile.Terms
	// Unresolved says that ScoreEntropy is missing because its quadrature does not
	// converge.
	Unresolved bool
	Rows       int
}

// entropyFree is up to how many free positions [Evaluator.Values] integrates the score
// entropy from score values, which takes the masses of all rows.
const entropyFree = 10

// Values works out windows exactly: everything that one table of subsets tells, and
// the sampler, of a decoder without a plan only that. For a time-conditioned network it is the sampler, and with FHS, whose
// quadrature has the rows for it, the NELBO.
func (e *Evaluator) Values(ctx context.Context, ts []Target, s *catalog.Sampler) ([]Values, error) {
	out := make([]Values, len(ts))
	if replays(s) {
		return out, e.replayedValues(ctx, ts, s, out)
	}
	if e.facts.TimeConditioned {
		for i, t := range ts {
			before := e.totals.Rows
			if err := e.timedValues(ctx, t, s, &out[i]); err != nil {
				return nil, err
			}
			out[i].Rows = e.totals.Rows - before
		}
		return out, nil
	}
	mass := true
	for _, t := range ts {
		mass = mass && len(t.Free) <= entropyFree && !e.changed
	}
	tables, laws, err := e.tablesAndLaws(ctx, ts, s, mass)
	if err != nil {
		return nil, err
	}
	for i, t := range tables {
		v := &out[i]
		v.Sampler, v.Rows = laws[i], t.Rows()
		if isChain(s) {
			v.Rows += t.D
		} else if raw, ok := s.RawLaw(); ok {
			v.Rows += (len(raw.Steps.Jump) + 1) * t.Rows()
		}
		terms := t.Terms()
		v.NELBO, v.FHS, v.LeftToRight, v.Terms = pointer(t.NELBO()), pointer(t.FHS()), pointer(t.LeftToRight()), &terms
		if mass {
			v.ScoreEntropy = pointer(t.ScoreEntropy().Raw)
		}
	}
	return out, nil
}

// tablesAndLaws returns the tables of windows and the law of a sampler on each: of all
// together, but one by one where whole rows are wanted, which take much memory.
func (e *Evaluator) tablesAndLaws(ctx context.Context, ts []Target, s *catalog.Sampler, mass bool) (tables []*Table, laws []Exact, err error) {
	laws = make([]Exact, len(ts))
	if looksBack(s) {
		for i, t := range ts {
			if err := e.timeFree(); err != nil {
				return nil, nil, err
			}
			rows, err := e.wholeRows(ctx, t, mass, 0, func(int) float64 { return 1 })
			if err != nil {
				return nil, nil, err
			}
			tables = append(tables, rows.Table)
			if laws[i], err = rows.sampler(s); err != nil {
				return nil, nil, err
			}
		}
		return tables, laws, nil
	}
	if tables, err = e.Tables(ctx, ts, mass); err != nil {
		return nil, nil, err
	}
	for i, t := range tables {
		if isChain(s) || isRaw(s) {
			laws[i], err = e.Exact(ctx, ts[i], s)
		} else {
			laws[i], err = t.Sampler(s)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return tables, laws, nil
}

// replayedValues are those of a decoder without a plan.
func (e *Evaluator) replayedValues(ctx context.Context, ts []Target, s *catalog.Sampler, out []Values) error {
	told, err := e.Replay(ctx, ts, []*catalog.Sampler{s})
	for i, x := range told {
		if x != nil {
			out[i].Sampler.NegLog, out[i].Rows = -x[0].LogP, x[0].Rows
		}
	}
	return err
}

func (e *Evaluator) timedValues(ctx context.Context, t Target, s *catalog.Sampler, v *Values) (err error) {
	if law, _ := s.Law(); !law.FirstHitting() {
		v.Sampler, err = e.Exact(ctx, t, s)
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
	v.Sampler = Exact{NegLog: fhs.Value, QuadratureError: fhs.Error}
	terms := table.Terms()
	v.FHS, v.NELBO, v.Terms = &fhs.Value, pointer(table.NELBO().Value), &terms
	if entropy := table.ScoreEntropy(); !e.changed && entropy.Resolved() {
		v.ScoreEntropy = pointer(entropy.Raw)
	} else {
		v.Unresolved = !e.changed
	}
	return nil
}

func pointer(x float64) *float64 { return &x }

// ExactRows is the number of network rows that a window with d free positions takes
// in [Evaluator.Values], for a time-free network.
func ExactRows(d int) float64 { return math.Ldexp(1, d) }
