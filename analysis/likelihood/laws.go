package likelihood

import (
	"context"
	"fmt"

	"mdmgen/model/facts"
	"mdmgen/samplers"
)

// Exact returns −log P of a sampler on a window: [Evaluator.Laws] of one.
func (e *Evaluator) Exact(ctx context.Context, t Target, s *samplers.Sampler) (Exact, error) {
	laws, err := e.Laws(ctx, t, []*samplers.Sampler{s})
	if err != nil {
		return Exact{}, err
	}
	return laws[0], nil
}

// Laws returns −log P of several samplers on a window, by whatever takes the fewest rows:
// [Evaluator.LawsOf] of one window.
func (e *Evaluator) Laws(ctx context.Context, t Target, ss []*samplers.Sampler) (out []Exact, err error) {
	err = e.LawsOf(ctx, []Target{t}, ss, func(_ int, laws []Exact, _ int) error {
		out = laws
		return nil
	})
	return out, err
}

// Fits says with a [TooLargeError] that the exact law of a sampler over d free positions
// takes more rows or memory than is worked out, and what it would cost.
func (e *Evaluator) Fits(d int, s *samplers.Sampler) error {
	if isChain(s) {
		return nil
	}
	times, tables := 1, 1
	if law, ok := s.RawLaw(); ok {
		times = len(law.Steps.Jump) + 1
	} else if e.facts.TimeConditioned {
		law, planned := s.Law()
		switch steps := law.Steps; {
		case steps == nil && planned && law.Clock == samplers.AtHit:
			times = DefaultNodes
		case steps != nil && law.Clock == samplers.AtHit:
			times = DefaultNodes + 1
		case steps != nil:
			times = len(steps.Jump) + 1
			if law.LookBack {
				tables = 2
			}
		}
	}
	if err := timedRows(d, times); err != nil {
		return err
	}
	if looksBack(s) {
		return checkRows(d, e.facts.Columns, tables)
	}
	return nil
}

// rowsInto is rowTableAt in one of the memories that are used again.
func (e *Evaluator) rowsInto(ctx context.Context, t Target, mass bool, scratch int, lambda func(masked int) float64) (*RowTable, error) {
	out, err := e.rowTableAt(ctx, t, mass, e.scratch[scratch], lambda)
	if err == nil {
		e.scratch[scratch] = out
	}
	return out, err
}

// lawAsker asks for the tables of one window, each once.
type lawAsker struct {
	e      *Evaluator
	ctx    context.Context
	target Target
	timed  map[[2]float64]*TimedTable
}

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
func (a *lawAsker) timedLaw(s *samplers.Sampler) (Exact, error) {
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
		out, err := a.e.timedTrapezoidal(a.ctx, a.target, *steps, trapezoidalWeight, law.Floor)
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

// rawLaw is that of a sampler with raw scores, whose masses depend on the time in any
// case.
func (a *lawAsker) rawLaw(s *samplers.Sampler) (Exact, error) {
	raw, _ := s.RawLaw()
	if a.e.facts.Output != facts.LogScore {
		return Exact{}, fmt.Errorf("likelihood: raw scores: this network has %s, which have no mass", a.e.facts.Output)
	}
	if a.e.changed {
		return Exact{}, fmt.Errorf("likelihood: raw scores with a temperature or a truncation: no exact law is worked out; use normalised scores")
	}
	law, err := rawLaw(len(a.target.Free), raw, a.e.atSteps(a.ctx, a.target, true, raw.Steps.Grid))
	if err != nil {
		return Exact{}, err
	}
	return gridExact(law, s), nil
}

// isRaw says that a sampler takes scores as they are.
func isRaw(s *samplers.Sampler) bool {
	_, ok := s.RawLaw()
	return ok
}

// timedHits is FHS's law or parallel FHS's.
func (a *lawAsker) timedHits(s *samplers.Sampler, law samplers.Law) (Exact, error) {
	shape, err := shapeOf(s, len(a.target.Free))
	if err != nil {
		return Exact{}, err
	}
	integral := (*TimedTable).FHS
	if !law.OneByOne {
		integral = func(t *TimedTable) Integral { return t.Groups(shape.Sizes) }
	}
	table, err := a.between(0, 1, integral)
	if err != nil {
		return Exact{}, err
	}
	p := integral(table)
	return Exact{NegLog: p.Value, QuadratureError: p.Error}, nil
}

// timedOneByOne is the law of uniformization and MATU.
func (a *lawAsker) timedOneByOne(s *samplers.Sampler, steps samplers.Steps) (Exact, error) {
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

// timedBlocks is the law of extrapolated and paired FHS, which ask at times that the
// number of masked positions tells.
func (a *lawAsker) timedBlocks(s *samplers.Sampler) (Exact, error) {
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
	for n, size := range shape.Sizes {
		lambda[masked] = shape.lambda[n]
		masked -= size
	}
	rows, err := a.e.rowsInto(a.ctx, a.target, false, 0, func(m int) float64 { return lambda[m] })
	if err != nil {
		return Exact{}, err
	}
	return Exact{NegLog: rows.Blocks(shape.Shape)}, nil
}

// TableTells says whether [Table.Sampler] has the law of a sampler on a network without time;
// others take rows of their own, which [Evaluator.Laws] asks for.
func TableTells(s *samplers.Sampler) bool { return !isChain(s) && !isRaw(s) && !looksBack(s) }
