package likelihood

import (
	"cmp"
	"context"
	"math"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/internal/parallel"
	"mdmgen/model/facts"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/schedule"
)

// Exact returns −log P of a sampler on a window: [Evaluator.Laws] of one.
func (e *Evaluator) Exact(ctx context.Context, t Target, s *catalog.Sampler) (Exact, error) {
	laws, err := e.Laws(ctx, t, []*catalog.Sampler{s})
	if err != nil {
		return Exact{}, err
	}
	return laws[0], nil
}

// Laws returns −log P of several samplers on a window, each computed from as few rows as possible.
//
// On a network without time, samplers share 2^d rows. These are kept whole if a sampler's fill
// looks back, in at most 1 GiB within the limits of [Evaluator.Fits], and the memory is reused by
// the next call. A sampler that lists its plans takes one row for each group of each plan. A
// time-conditioned network takes 2^d rows at every node of a quadrature, shared by FHS and parallel
// FHS, and by uniformization and MATU with the same ends; 2^d rows a step for samplers on a grid,
// and for raw scores with any network; and 2^d rows in all for paired FHS. Decoders without a plan
// are replayed ([Evaluator.Replay]).
//
// A sampler that [Evaluator.Fits] rejects is an error before any row of the window is computed.
func (e *Evaluator) Laws(ctx context.Context, t Target, ss []*catalog.Sampler) ([]Exact, error) {
	if err := e.Check(t); err != nil {
		return nil, err
	}
	for _, s := range ss {
		if err := e.Fits(len(t.Free), s); err != nil {
			return nil, err
		}
	}
	var again []rank.Replayed
	if decoders := slices.DeleteFunc(slices.Clone(ss), func(s *catalog.Sampler) bool { return !replays(s) }); decoders != nil {
		all, err := e.Replay(ctx, []Target{t}, decoders)
		if err != nil {
			return nil, err
		}
		again = all[0]
	}
	out := make([]Exact, len(ss))
	ask := lawAsker{e: e, ctx: ctx, target: t, whole: slices.ContainsFunc(ss, looksBack)}
	for i, s := range ss {
		if replays(s) {
			out[i].NegLog = -again[0].LogP
			again = again[1:]
			continue
		}
		var err error
		if out[i], err = ask.law(s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// TableLaws returns the tables of windows on a network without time, which share calls, and −log P
// of several samplers on each window. Laws that follow from a table are computed on all processors,
// the others by [Evaluator.Laws].
func (e *Evaluator) TableLaws(ctx context.Context, ts []Target, ss []*catalog.Sampler, mass bool) ([]*Table, [][]Exact, error) {
	tables, err := e.Tables(ctx, ts, mass)
	if err != nil {
		return nil, nil, err
	}
	out, errs := make([][]Exact, len(ts)), make([]error, len(ts))
	parallel.For(len(ts), func(i int) {
		out[i] = make([]Exact, len(ss))
		for k, s := range ss {
			if errs[i] = cmp.Or(errs[i], ctx.Err()); errs[i] == nil && TableHasLaw(s) {
				out[i][k], errs[i] = tables[i].Sampler(s)
			}
		}
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, nil, err
	}
	others := slices.DeleteFunc(slices.Clone(ss), TableHasLaw)
	for i := range out {
		if len(others) == 0 {
			break
		}
		laws, err := e.Laws(ctx, ts[i], others)
		if err != nil {
			return nil, nil, err
		}
		for k, s := range ss {
			if !TableHasLaw(s) {
				out[i][k], laws = laws[0], laws[1:]
			}
		}
	}
	return tables, out, nil
}

// Fits returns a [TooLargeError] with the cost if the exact law of a sampler over d free positions
// takes too many rows or too much memory.
func (e *Evaluator) Fits(d int, s *catalog.Sampler) error {
	if inner, how, err := insideCache(s, e.model.Spec()); err != nil {
		return err
	} else if inner != nil {
		return e.fitsCached(d, inner, how)
	}
	if inner := e.insideBlocks(s); inner != nil {
		return e.Fits(min(d, e.facts.BlockSize), inner)
	}
	if !s.Planned() && !isRaw(s) {
		return FitsReplay(d, s)
	}
	if isListed(s) {
		return fitsListed(d, s)
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

// lawAsker computes the tables of one window, each once.
type lawAsker struct {
	e      *Evaluator
	ctx    context.Context
	target Target
	// timed holds quadratures by their ends. shared holds the rows that samplers share, nil until
	// they are computed; whole keeps them whole.
	timed  map[[2]float64]*TimedTable
	shared *rowTable
	whole  bool
}

// law returns −log P of a sampler with a plan or with raw scores.
func (a *lawAsker) law(s *catalog.Sampler) (Exact, error) {
	if err := a.ctx.Err(); err != nil {
		return Exact{}, err
	}
	d := len(a.target.Free)
	law, planned := s.Law()
	steps, timed := law.Steps, a.e != nil && a.e.facts.TimeConditioned
	switch {
	case law.Fixed:
		cost, err := a.e.listed(a.ctx, a.target, s)
		return Exact{NegLog: cost}, err
	case isRaw(s):
		return a.rawLaw(s)
	case !planned:
		return Exact{}, noLaw(s)
	case timed && law.Clock == samplers.AtHit && steps == nil:
		return a.timedHits(s)
	case timed && law.Clock == samplers.AtHit:
		return a.timedOneByOne(s, *steps)
	case timed && law.LookBack && steps != nil:
		out, err := a.e.timedTrapezoidal(a.ctx, a.target, *steps, law.Floor)
		return gridExact(out, s), err
	case timed && law.LookBack:
		return a.timedBlocks(s)
	case timed && steps != nil && law.OneByOne:
		out, err := sequenceLaw(d, *steps, a.e.atSteps(a.ctx, a.target, false, steps.Grid))
		return gridExact(out, s), err
	case timed && steps != nil:
		out, err := gridLaw(d, *steps, a.e.atSteps(a.ctx, a.target, false, steps.Grid))
		return gridExact(out, s), err
	}
	t, err := a.table()
	if err != nil {
		return Exact{}, err
	}
	switch {
	case steps != nil && law.LookBack:
		return gridExact(t.trapezoidal(*steps, law.Floor), s), nil
	case steps != nil && law.OneByOne:
		all, _ := sequenceLaw(d, schedule.Steps{Jump: []float64{1 - steps.Left()}}, t.always)
		return gridExact(all, s), nil
	case steps != nil:
		return gridExact(t.Grid(*steps), s), nil
	case law.OneByOne:
		return Exact{NegLog: t.FHS()}, nil
	case law.Mix != nil:
		var logs []float64
		for sizes, p := range law.Mix(d) {
			logs = append(logs, math.Log(p)-t.blocks(shape{sizes: sizes, weights: make([]float64, len(sizes))}))
		}
		return Exact{NegLog: -logSum(logs)}, nil
	case timed:
		return Exact{}, noLaw(s)
	}
	shape, err := shapeOf(s, d)
	if err != nil {
		return Exact{}, err
	}
	return Exact{NegLog: t.blocks(shape)}, nil
}

// table returns the rows that samplers share. On a time-conditioned network they are for random
// orders, whose rows are read at fixed times, so that the recursion of FHS holds.
func (a *lawAsker) table() (*rowTable, error) {
	switch {
	case a.shared != nil:
	case a.e.facts.TimeConditioned:
		d := len(a.target.Free)
		tables, err := a.e.tablesAt(a.ctx, []Target{a.target}, false, func(m int) float64 { return float64(m) / float64(d+1) })
		if err != nil {
			return nil, err
		}
		a.shared = &rowTable{Table: tables[0]}
	default:
		rows, err := a.e.rows(a.ctx, []Target{a.target}, a.whole, false)
		if err != nil {
			return nil, err
		}
		a.shared = rows[0]
	}
	return a.shared, nil
}

// rows returns the rows that samplers of a network without time share; with whole, whole rows of
// ts[0] alone.
func (e *Evaluator) rows(ctx context.Context, ts []Target, whole, mass bool) ([]*rowTable, error) {
	if err := e.timeFree(); err != nil {
		return nil, err
	}
	if whole {
		rows, err := e.wholeRows(ctx, ts[0], mass, 0, constant(1))
		return []*rowTable{rows}, err
	}
	tables, err := e.Tables(ctx, ts, mass)
	out := make([]*rowTable, len(tables))
	for i, t := range tables {
		out[i] = &rowTable{Table: t}
	}
	return out, err
}

// rawLaw computes the law of a sampler with raw scores, whose masses depend on the time even if the
// network does not.
func (a *lawAsker) rawLaw(s *catalog.Sampler) (Exact, error) {
	raw, _ := s.RawLaw()
	if a.e.facts.Output != facts.LogScore {
		return Exact{}, fault.Errorf("likelihood", "raw scores: this network has %s, which have no mass", a.e.facts.Output)
	}
	if a.e.changed {
		return Exact{}, fault.Errorf("likelihood", "raw scores with a temperature or a truncation: the exact law cannot be computed; use normalised scores")
	}
	law, err := rawLaw(len(a.target.Free), raw, a.e.atSteps(a.ctx, a.target, true, raw.Steps.Grid))
	if err != nil {
		return Exact{}, err
	}
	return gridExact(law, s), nil
}

// isRaw reports whether a sampler uses unnormalised scores.
func isRaw(s *catalog.Sampler) bool {
	_, ok := s.RawLaw()
	return ok
}

// TableHasLaw reports whether [Table.Sampler] computes the law of a sampler on a network without
// time. Other samplers need more rows, and [Evaluator.Laws] computes their laws.
func TableHasLaw(s *catalog.Sampler) bool {
	return !isListed(s) && !isRaw(s) && !looksBack(s) && !replays(s)
}
