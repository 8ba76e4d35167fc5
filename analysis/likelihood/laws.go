package likelihood

import (
	"context"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/model/facts"
	"mdmgen/samplers"
	"mdmgen/samplers/schedule"
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

// LawsOf returns −log P of several samplers on each of several windows, by whatever takes
// the fewest rows: it calls emit with the laws of each window and the number of its rows, in
// the order of the windows.
//
// On a network without time samplers share 2^d rows, which are kept whole where a sampler's
// fill looks back: what [Evaluator.Fits] allows takes 1 GiB at most, kept for the next call. An
// order that is not random takes d of its own. A
// time-conditioned network is asked for 2^d rows at every node of a quadrature, which FHS
// and parallel FHS share, as do uniformization and MATU between the same ends; 2^d a
// step by the samplers on a grid, and by raw scores with any network; 2^d in all by paired FHS.
// Decoders without a plan are replayed ([Evaluator.Replay]).
//
// The values do not depend on how windows share a call. What
// [Evaluator.Fits] refuses is refused before any row of the window is asked for. Where ctx ends
// or emit returns an error, LawsOf returns it.
func (e *Evaluator) LawsOf(ctx context.Context, ts []Target, ss []*samplers.Sampler, emit func(i int, laws []Exact, rows int) error) error {
	for i, t := range ts {
		before := e.totals.Rows
		laws, err := e.window(ctx, t, ss)
		if err != nil {
			return err
		}
		if err := emit(i, laws, e.totals.Rows-before); err != nil {
			return err
		}
	}
	return nil
}

// window is LawsOf of one.
func (e *Evaluator) window(ctx context.Context, t Target, ss []*samplers.Sampler) ([]Exact, error) {
	if err := e.Check(t); err != nil {
		return nil, err
	}
	for _, s := range ss {
		if err := e.Fits(len(t.Free), s); err != nil {
			return nil, err
		}
	}
	out := make([]Exact, len(ss))
	var told []samplers.Replayed
	if decoders := slices.DeleteFunc(slices.Clone(ss), func(s *samplers.Sampler) bool { return !replays(s) }); decoders != nil {
		all, err := e.Replay(ctx, []Target{t}, decoders)
		if err != nil {
			return nil, err
		}
		told = all[0]
	}
	ask := lawAsker{e: e, ctx: ctx, target: t, timed: make(map[[2]float64]*TimedTable)}
	for i, s := range ss {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		switch {
		case replays(s):
			out[i].NegLog = -told[0].LogP
			told = told[1:]
		case isChain(s):
			out[i].NegLog, err = e.chain(ctx, t, s)
		case isRaw(s):
			out[i], err = ask.rawLaw(s)
		case e.facts.TimeConditioned:
			out[i], err = ask.timedLaw(s)
		default:
			if ask.shared == nil {
				if err := ask.share(slices.ContainsFunc(ss, looksBack)); err != nil {
					return nil, err
				}
			}
			out[i], err = ask.shared(s)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Fits says with a [TooLargeError] that the exact law of a sampler over d free positions
// takes more rows or memory than is worked out, and what it would cost.
func (e *Evaluator) Fits(d int, s *samplers.Sampler) error {
	if !s.Planned() && !isRaw(s) {
		return FitsReplay(d, s)
	}
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

// lawAsker asks for the tables of one window, each once.
type lawAsker struct {
	e      *Evaluator
	ctx    context.Context
	target Target
	timed  map[[2]float64]*TimedTable
	// shared tells a law from the rows that samplers share, nil where nothing was asked for.
	shared func(s *samplers.Sampler) (Exact, error)
}

// share asks for the rows that samplers of a network without time share.
func (a *lawAsker) share(whole bool) error {
	if whole {
		rows, err := a.e.wholeRows(a.ctx, a.target, false, 0, func(int) float64 { return 1 })
		if err == nil {
			a.shared = rows.sampler
		}
		return err
	}
	table, err := a.e.Table(a.ctx, a.target, false)
	if err == nil {
		a.shared = table.Sampler
	}
	return err
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

// rawLaw is that of a sampler with raw scores, whose masses depend on the time in any
// case.
func (a *lawAsker) rawLaw(s *samplers.Sampler) (Exact, error) {
	raw, _ := s.RawLaw()
	if a.e.facts.Output != facts.LogScore {
		return Exact{}, fault.Errorf("likelihood", "raw scores: this network has %s, which have no mass", a.e.facts.Output)
	}
	if a.e.changed {
		return Exact{}, fault.Errorf("likelihood", "raw scores with a temperature or a truncation: no exact law is worked out; use normalised scores")
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
func (a *lawAsker) timedOneByOne(s *samplers.Sampler, steps schedule.Steps) (Exact, error) {
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

// TableTells says whether [Table.Sampler] has the law of a sampler on a network without time;
// others take rows of their own, which [Evaluator.Laws] asks for.
func TableTells(s *samplers.Sampler) bool {
	return !isChain(s) && !isRaw(s) && !looksBack(s) && !replays(s)
}
