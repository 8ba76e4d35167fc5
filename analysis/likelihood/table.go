package likelihood

import (
	"context"
	"math/bits"

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
		var err error
		if out[w], err = e.newTable(&ts[w], mass); err != nil {
			return nil, err
		}
		asks = out[w].asks(asks, &ts[w], lambda)
	}
	if err := e.Eval(ctx, asks); err != nil {
		return nil, err
	}
	for _, t := range out {
		t.settle()
	}
	return out, nil
}

// newTable returns an empty table for a window.
func (e *Evaluator) newTable(t *Target, mass bool) (*Table, error) {
	if err := e.Check(*t); err != nil {
		return nil, err
	}
	d := len(t.Free)
	if d > subset.MaxFree {
		return nil, &samplers.TooLargeError{Free: d, Rows: ExactRows(d), Most: subset.MaxFree}
	}
	out := &Table{Table: subset.Table{D: d, LogMu: make([]float64, d<<d)}}
	if mass {
		out.LogMass = make([]float64, d<<d)
	}
	return out, nil
}

// asks appends the asks that fill the table of window w, in the order of the subsets. Their answers
// are stored contiguously; settle moves them to the indices of their positions.
func (t *Table) asks(asks []Ask, w *Target, lambda func(masked int) float64) []Ask {
	d := t.D
	for a := range 1<<d - 1 {
		masked := make([]int, 0, d-bits.OnesCount(uint(a)))
		for i, l := range w.Free {
			if a>>i&1 == 0 {
				masked = append(masked, l)
			}
		}
		n := len(masked)
		ask := Ask{Target: w, Masked: masked, Wanted: masked, Lambda: lambda(n), LogMu: t.LogMu[a*d : a*d+n]}
		if t.LogMass != nil {
			ask.LogMass = t.LogMass[a*d : a*d+n]
		}
		asks = append(asks, ask)
	}
	return asks
}

func (t *Table) settle() {
	for a := range 1 << t.D {
		spread(t.LogMu[a*t.D:(a+1)*t.D], a)
		if t.LogMass != nil {
			spread(t.LogMass[a*t.D:(a+1)*t.D], a)
		}
	}
}

// spread moves the values of the positions outside the set a, which are at the front of row in
// order, to the indices of the positions, and sets the others to 0.
func spread(row []float64, a int) {
	n := len(row) - bits.OnesCount(uint(a))
	for i := len(row) - 1; i >= 0; i-- {
		if a>>i&1 == 1 {
			row[i] = 0
			continue
		}
		n--
		row[i] = row[n]
	}
}
