package likelihood

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"mdmgen/internal/fault"
)

// MaxFree is the greatest number of free positions of an exact value: 65,536 network rows, and 43
// million products per step of a grid.
const MaxFree = 16

// TooLargeError reports that an exact value would cost too much.
type TooLargeError struct {
	// Free is the number of free positions, Rows the number of network rows, Bytes the memory of
	// whole rows, 0 if none are kept.
	Free  int
	Rows  float64
	Bytes float64
	// Most is the greatest number of free positions that can be computed; 0 if the steps are too
	// many for any.
	Most int
	// Plans is the number of plans to sum over, 0 if rows are the limit.
	Plans float64
	// Blocks reports whether any number of blocks of at most Most positions can be computed.
	Blocks bool
}

func (e *TooLargeError) Error() string {
	if e.Plans > 0 {
		return fmt.Sprintf("an exact value over %d free positions would be a sum over %.6g plans: at most %d free positions are supported; use an estimate or shorter windows", e.Free, e.Plans, e.Most)
	}
	if e.Bytes > 0 {
		return fmt.Sprintf("exact values of a fill with history over %d free positions would keep %.3g GiB of rows and take 4^%d products a step: at most %d free positions are supported; use a K-plan bound or shorter windows", e.Free, e.Bytes/(1<<30), e.Free, e.Most)
	}
	if e.Most < 1 {
		return fmt.Sprintf("exact values over %d free positions would take %.6g network rows, and with this number of steps even one position takes too many: use fewer steps or an estimate", e.Free, e.Rows)
	}
	otherwise := "use an estimate or shorter windows"
	if e.Blocks {
		otherwise = fmt.Sprintf("use blocks of at most %d (block-length) or shorter windows", e.Most)
	}
	return fmt.Sprintf("exact values over %d free positions would take %.6g network rows: at most %d free positions are supported; %s", e.Free, e.Rows, e.Most, otherwise)
}

// Table holds a window's log-probabilities for all subsets of its free positions. Subsets are bit
// sets over the indices of Target.Free: free position i is visible if bit i is set. A Table does
// not change and may be shared.
type Table struct {
	// D is the number of free positions.
	D int
	// LogMu[A·D+i] is log μ^i(x_i | x_A) for i not in A, −Inf for probability 0; it is 0 for i in
	// A.
	LogMu []float64
	// LogMass[A·D+i] is log Σ_a μ^i(a | x_A), nil if it was not requested.
	LogMass []float64
}

// logRow returns log μ^i(x_i | x_A) by i.
func (t *Table) logRow(a int) []float64 { return t.LogMu[a*t.D : (a+1)*t.D] }

// outside lists the positions that are not in a set.
func (t *Table) outside(a int) (out []int) {
	for i := range t.D {
		if a>>i&1 == 0 {
			out = append(out, i)
		}
	}
	return out
}

// Rows returns the number of network rows of a table: one for each subset that leaves a position
// masked.
func (t *Table) Rows() int { return 1<<t.D - 1 }

// Table computes the rows of all subsets of a window, each once. The network must not be
// time-conditioned.
func (e *Evaluator) Table(ctx context.Context, t Target, mass bool) (*Table, error) {
	if err := e.timeFree(); err != nil {
		return nil, err
	}
	return e.tableAt(ctx, t, mass, 1)
}

// Tables computes the tables of several windows together, so that windows with few subsets share
// full calls.
func (e *Evaluator) Tables(ctx context.Context, ts []Target, mass bool) ([]*Table, error) {
	if err := e.timeFree(); err != nil {
		return nil, err
	}
	return e.tablesAt(ctx, ts, mass, constant(1))
}

func (e *Evaluator) timeFree() error {
	if e.facts.TimeConditioned {
		return fault.Errorf("likelihood", "the network is time-conditioned: one table of subsets does not determine its laws")
	}
	return nil
}

// constant returns the same masked fraction for all subsets.
func constant(lambda float64) func(int) float64 { return func(int) float64 { return lambda } }

// tableAt computes the table of a window at a masked fraction.
func (e *Evaluator) tableAt(ctx context.Context, t Target, mass bool, lambda float64) (*Table, error) {
	tables, err := e.tablesAt(ctx, []Target{t}, mass, constant(lambda))
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
	if d > MaxFree {
		return nil, &TooLargeError{Free: d, Rows: math.Ldexp(1, d), Most: MaxFree}
	}
	out := &Table{D: d, LogMu: make([]float64, d<<d)}
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
