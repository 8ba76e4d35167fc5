package likelihood

import (
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
)

// between is the table of a quadrature between two ends, with as many nodes as the error of a
// law takes.
func (a *lawAsker) between(low, high float64, law func(t *TimedTable) Integral) (t *TimedTable, err error) {
	ends := [2]float64{low, high}
	if t = a.timed[ends]; t == nil {
		if t, err = a.e.timedTable(a.ctx, a.target, 0, false, low, high); err != nil {
			return nil, err
		}
		a.timed[ends] = t
	}
	return t, t.within(a.ctx, a.e, a.target, 0, false, func() float64 { return law(t).Error })
}

// timedLaw is that of a sampler on a time-conditioned network.
func (a *lawAsker) timedLaw(s *catalog.Sampler) (Exact, error) {
	law, ok := s.Law()
	steps := law.Steps
	switch {
	case !ok:
		return Exact{}, noLaw(s)
	case steps == nil && law.Clock == samplers.AtHit:
		return a.timedHits(s, law)
	case steps == nil && law.LookBack:
		return a.timedBlocks(s)
	case steps == nil && law.OneByOne:
		// A random order is asked at fixed times, and so FHS's recursion holds.
		d := len(a.target.Free)
		tables, err := a.e.tablesAt(a.ctx, []Target{a.target}, false, func(m int) float64 { return float64(m) / float64(d+1) })
		if err != nil {
			return Exact{}, err
		}
		return Exact{NegLog: tables[0].FHS()}, nil
	case steps == nil:
		return Exact{}, noLaw(s)
	case law.Clock == samplers.AtHit:
		return a.timedOneByOne(s, *steps)
	case law.LookBack:
		out, err := a.e.timedTrapezoidal(a.ctx, a.target, *steps, law.Floor)
		if err != nil {
			return Exact{}, err
		}
		return gridExact(out, s), nil
	}
	recursion := gridLaw
	if law.OneByOne {
		recursion = dmpmLaw
	}
	out, err := recursion(len(a.target.Free), *steps, a.e.atSteps(a.ctx, a.target, false, steps.Grid))
	if err != nil {
		return Exact{}, err
	}
	return gridExact(out, s), nil
}

// timedHits is FHS's law or parallel FHS's.
func (a *lawAsker) timedHits(s *catalog.Sampler, law samplers.Law) (Exact, error) {
	shape, err := shapeOf(s, len(a.target.Free))
	if err != nil {
		return Exact{}, err
	}
	integral := (*TimedTable).FHS
	if !law.OneByOne {
		integral = func(t *TimedTable) Integral { return t.Groups(shape.sizes) }
	}
	table, err := a.between(0, 1, integral)
	if err != nil {
		return Exact{}, err
	}
	p := integral(table)
	return Exact{NegLog: p.Value, QuadratureError: p.Error}, nil
}

// timedOneByOne is the law of uniformization and MATU.
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

// timedBlocks is the law of paired FHS, which asks at times that the
// number of masked positions tells.
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
	return Exact{NegLog: rows.paired(shape)}, nil
}
