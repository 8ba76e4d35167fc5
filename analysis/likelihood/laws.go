package likelihood

import (
	"context"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/model/facts"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/rank"
)

// Exact returns −log P of a sampler on a window: [Evaluator.Laws] of one.
func (e *Evaluator) Exact(ctx context.Context, t Target, s *catalog.Sampler) (Exact, error) {
	laws, err := e.Laws(ctx, t, []*catalog.Sampler{s})
	if err != nil {
		return Exact{}, err
	}
	return laws[0], nil
}

// Laws returns −log P of several samplers on a window, by whatever takes the fewest rows:
// [Evaluator.LawsOf] of one window.
func (e *Evaluator) Laws(ctx context.Context, t Target, ss []*catalog.Sampler) (out []Exact, err error) {
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
func (e *Evaluator) LawsOf(ctx context.Context, ts []Target, ss []*catalog.Sampler, emit func(i int, laws []Exact, rows int) error) error {
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
func (e *Evaluator) window(ctx context.Context, t Target, ss []*catalog.Sampler) ([]Exact, error) {
	if err := e.Check(t); err != nil {
		return nil, err
	}
	for _, s := range ss {
		if err := e.Fits(len(t.Free), s); err != nil {
			return nil, err
		}
	}
	out := make([]Exact, len(ss))
	var told []rank.Replayed
	if decoders := slices.DeleteFunc(slices.Clone(ss), func(s *catalog.Sampler) bool { return !replays(s) }); decoders != nil {
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
func (e *Evaluator) Fits(d int, s *catalog.Sampler) error {
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
	shared func(s *catalog.Sampler) (Exact, error)
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

// rawLaw is that of a sampler with raw scores, whose masses depend on the time in any
// case.
func (a *lawAsker) rawLaw(s *catalog.Sampler) (Exact, error) {
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
func isRaw(s *catalog.Sampler) bool {
	_, ok := s.RawLaw()
	return ok
}

// TableTells says whether [Table.Sampler] has the law of a sampler on a network without time;
// others take rows of their own, which [Evaluator.Laws] asks for.
func TableTells(s *catalog.Sampler) bool {
	return !isChain(s) && !isRaw(s) && !looksBack(s) && !replays(s)
}
