package likelihood

import (
	"context"
	"math"

	"mdmgen/model/facts"
)

// table is a model that tells its probabilities in float64: a world.
type table interface {
	State(ids []int) int
	Mu(dst []float64, state, position int, lambda float64) bool
}

// fits says whether a table can be asked with these facts, which a user may have
// changed; where it cannot, the model's own errors say why.
func fits(w table, f facts.Facts) (ok bool) {
	defer func() {
		if recover() != nil { // State panics on a canvas that is not the table's.
			ok = false
		}
	}()
	canvas := make([]int, f.Length)
	for l := range canvas {
		canvas[l] = f.MaskID
	}
	return w.Mu(make([]float64, f.Columns), w.State(canvas), 0, 1)
}

// evalTable answers from a world's table. A row counts as a call would.
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
			e.table.Mu(e.row, state, l, a.Lambda)
			a.LogMu[j] = math.Log(e.row[a.Target.IDs[l]])
			if a.Whole != nil {
				a.Whole(j, e.row)
			}
			if a.LogMass != nil {
				var sum float64
				for _, p := range e.row {
					sum += p
				}
				a.LogMass[j] = math.Log(sum)
			}
		}
		e.totals.Rows++
		e.totals.Positions += len(a.Wanted)
	}
	e.totals.Calls++
	return nil
}
