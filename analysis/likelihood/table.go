package likelihood

import (
	"context"

	"mdmgen/samplers"
	"mdmgen/samplers/subset"
)

// Table holds a window's log-probabilities for all subsets of its free positions: bit sets over the
// indices of Target.Free. A Table does not change and may be shared.
type Table struct {
	subset.Table
	// LogMass[A·D+i] is log Σ_a μ^i(a | x_A), nil if it was not requested.
	LogMass []float64
}

// Table computes the rows of all subsets of a window, each once. The network must not be
// time-conditioned.
func (e *Evaluator) Table(ctx context.Context, t Target, mass bool) (*Table, error) {
	tables, _, err := e.TableLaws(ctx, []Target{t}, nil, mass)
	if err != nil {
		return nil, err
	}
	return tables[0], nil
}

// tablesAt computes the tables of windows; a subset that leaves n positions masked uses the masked
// fraction lambda(n).
func (e *Evaluator) tablesAt(ctx context.Context, ts []Target, mass bool, lambda func(masked int) float64) ([]*Table, error) {
	var asks []Ask
	out := make([]*Table, len(ts))
	for w := range ts {
		if err := e.Check(ts[w]); err != nil {
			return nil, err
		}
		d := len(ts[w].Free)
		if d > subset.MaxFree {
			return nil, &samplers.TooLargeError{Free: d, Rows: ExactRows(d), Most: subset.MaxFree}
		}
		out[w] = &Table{Table: subset.Table{D: d, LogMu: make([]float64, d<<d)}}
		if mass {
			out[w].LogMass = make([]float64, d<<d)
		}
		for a := range out[w].Rows() {
			ask := Ask{Target: &ts[w]}
			for i, l := range ts[w].Free {
				if a>>i&1 == 0 {
					ask.Masked = append(ask.Masked, l)
				}
			}
			n := len(ask.Masked)
			ask.Wanted, ask.Lambda, ask.LogMu = ask.Masked, lambda(n), make([]float64, n)
			if mass {
				ask.LogMass = make([]float64, n)
			}
			asks = append(asks, ask)
		}
	}
	if err := e.Eval(ctx, asks); err != nil {
		return nil, err
	}
	for _, t := range out {
		for a, ask := range asks[:t.Rows()] {
			j := 0
			for i := range t.D {
				if a>>i&1 == 1 {
					continue
				}
				if t.LogMu[a*t.D+i] = ask.LogMu[j]; mass {
					t.LogMass[a*t.D+i] = ask.LogMass[j]
				}
				j++
			}
		}
		asks = asks[t.Rows():]
	}
	return out, nil
}
