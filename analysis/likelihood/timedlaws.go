package likelihood

import (
	"context"

	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
)

// between returns the table of a quadrature between two ends, refined until the error of a law is
// within the tolerance.
func (a *lawAsker) between(low, high float64, law func(t *TimedTable) Integral) (t *TimedTable, err error) {
	ends := [2]float64{low, high}
	if a.timed == nil {
		a.timed = make(map[[2]float64]*TimedTable)
	}
	if t = a.timed[ends]; t == nil {
		if t, err = a.e.timedTable(a.ctx, a.target, false, low, high); err != nil {
			return nil, err
		}
		a.timed[ends] = t
	}
	return t, t.within(a.ctx, a.e, a.target, 0, false, func() float64 { return law(t).Error })
}

// timedHits computes the law of FHS or parallel FHS.
func (a *lawAsker) timedHits(s *catalog.Sampler) (Exact, error) {
	shape, err := shapeOf(s, len(a.target.Free))
	if err != nil {
		return Exact{}, err
	}
	table, err := a.between(0, 1, func(t *TimedTable) Integral { return t.hits(shape.sizes, false) })
	if err != nil {
		return Exact{}, err
	}
	p := table.hits(shape.sizes, false)
	return Exact{NegLog: p.Value, QuadratureError: p.Error}, nil
}

// timedOneByOne computes the law of uniformization and MATU.
func (a *lawAsker) timedOneByOne(s *catalog.Sampler, steps schedule.Steps) (Exact, error) {
	lambda := steps.Grid.Lambda
	table, err := a.between(lambda[len(lambda)-1], lambda[0], func(t *TimedTable) Integral {
		leave, denoise := t.OneByOne()
		if s.Denoises() {
			return denoise
		}
		return leave
	})
	if err != nil {
		return Exact{}, err
	}
	leave, denoise := table.OneByOne()
	out := gridExact(GridLaw{Leave: leave.Value, Denoise: denoise.Value}, s)
	out.QuadratureError = leave.Error
	if s.Denoises() {
		out.QuadratureError = denoise.Error
	}
	return out, nil
}

// timedBlocks computes the law of paired FHS, whose call times depend only on the number of masked
// positions.
func (a *lawAsker) timedBlocks(s *catalog.Sampler) (Exact, error) {
	d := len(a.target.Free)
	shape, err := shapeOf(s, d)
	if err != nil {
		return Exact{}, err
	}
	lambda := make([]float64, d+1)
	for m := range lambda {
		lambda[m] = float64(m) / float64(d)
	}
	masked := d
	for n, size := range shape.sizes {
		lambda[masked] = shape.lambda[n]
		masked -= size
	}
	rows, err := a.e.wholeRows(a.ctx, a.target, false, 0, func(m int) float64 { return lambda[m] })
	if err != nil {
		return Exact{}, err
	}
	return Exact{NegLog: rows.blocks(shape)}, nil
}

// atSteps returns a function that computes the table of a step of a grid; step N is the call that
// fills the rest. The last table is kept.
func (e *Evaluator) atSteps(ctx context.Context, target Target, mass bool, g schedule.Grid) func(step int) (*Table, error) {
	var last *Table
	at := -1
	return func(k int) (_ *Table, err error) {
		if k != at {
			last, err = e.tableAt(ctx, target, mass, g.Lambda[k])
			at = k
		}
		return last, err
	}
}
