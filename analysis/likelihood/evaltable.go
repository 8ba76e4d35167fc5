package likelihood

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"mdmgen/model/facts"
)

// table is a model with probabilities in float64: a world.
type table interface {
	State(ids []int) int
	Mu(dst []float64, state, position int, lambda float64) bool
	LogMu(state, position, token int, lambda float64) float64
	Mixture() (mu0, mu1 []float64, c, p float64)
}

// fits reports whether a table has the shape given by the facts, which a user may have changed. If
// not, the model itself returns the error.
func fits(w table, f facts.Facts) bool {
	mu0, _, _, _ := w.Mixture()
	states := math.Pow(float64(f.Columns+1), float64(f.Length))
	return f.MaskID == f.Columns && float64(len(mu0)) == states*float64(f.Length*f.Columns)
}

// evalTable answers asks from a world's table. A row counts as in a call.
func (e *Evaluator) evalTable(ctx context.Context, asks []Ask) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range asks {
		a := &asks[i]
		if len(a.Wanted) == 0 {
			continue
		}
		e.canvas = append(e.canvas[:0], a.Target.IDs...)
		for _, l := range a.Masked {
			e.canvas[l] = e.facts.MaskID
		}
		state := e.table.State(e.canvas)
		for j, l := range a.Wanted {
			a.LogMu[j] = e.table.LogMu(state, l, a.Target.IDs[l], a.Lambda)
			if a.Whole != nil || a.LogMass != nil {
				e.table.Mu(e.row, state, l, a.Lambda)
			}
			if a.Whole != nil {
				a.Whole(j, e.row)
			}
			if a.LogMass != nil {
				a.LogMass[j] = math.Log(floats.Sum(e.row))
			}
		}
		e.totals.Rows++
		e.totals.Positions += len(a.Wanted)
	}
	e.totals.Calls++
	return nil
}
