package likelihood

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/internal/parallel"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/subset"
)

// Exact is −log P of a sampler on a window, in nats.
type Exact = samplers.Exact

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
// On a network without time, planned samplers share 2^d rows. A sampler that lists its plans takes
// one row for each group of each plan if they are not known. On a time-conditioned network, samplers
// on a grid take 2^d rows a step, and samplers without times 2^d in all. Decoders without a plan are
// replayed ([Evaluator.Replay]).
//
// A sampler that [Evaluator.Fits] rejects is an error before any row of the window is computed.
func (e *Evaluator) Laws(ctx context.Context, t Target, ss []*catalog.Sampler) ([]Exact, error) {
	if err := e.Check(t); err != nil {
		return nil, err
	}
	if err := e.fit([]Target{t}, ss); err != nil {
		return nil, err
	}
	out, err := e.unplanned(ctx, []Target{t}, ss)
	if err != nil {
		return nil, err
	}
	return out[0], planned(out[0], ss, &text{e: e, ctx: ctx, target: t})
}

// TableLaws returns the tables of windows on a network without time, which share calls, and −log P
// of several samplers on each window. Laws that follow from a table are computed on all processors.
func (e *Evaluator) TableLaws(ctx context.Context, ts []Target, ss []*catalog.Sampler, mass bool) ([]*Table, [][]Exact, error) {
	if err := e.fit(ts, ss); err != nil {
		return nil, nil, err
	}
	if e.facts.TimeConditioned {
		return nil, nil, fault.Errorf("likelihood", "the network is time-conditioned: one table of subsets does not determine its laws")
	}
	tables, err := e.tablesAt(ctx, ts, mass, func(int) float64 { return 1 })
	if err != nil {
		return nil, nil, err
	}
	out, err := e.unplanned(ctx, ts, ss)
	if err != nil {
		return nil, nil, err
	}
	errs := make([]error, len(ts))
	parallel.For(len(ts), func(i int) {
		errs[i] = planned(out[i], ss, &text{ctx: ctx, target: ts[i], table: &tables[i].Table})
	})
	return tables, out, cmp.Or(errs...)
}

// fit returns an error if the laws of samplers do not fit a window.
func (e *Evaluator) fit(ts []Target, ss []*catalog.Sampler) error {
	for _, t := range ts {
		for _, s := range ss {
			if err := e.Fits(len(t.Free), s); err != nil {
				return err
			}
		}
	}
	return nil
}

// unplanned returns −log P of windows under the decoders without a plan and the samplers that draw from
// causal rows, and 0 under the other samplers.
func (e *Evaluator) unplanned(ctx context.Context, ts []Target, ss []*catalog.Sampler) ([][]Exact, error) {
	out := make([][]Exact, len(ts))
	for i := range out {
		out[i] = make([]Exact, len(ss))
	}
	var decoders []*catalog.Sampler
	var at []int
	for k, s := range ss {
		switch law := s.Law().(type) {
		case samplers.ByCausal:
			asks, err := e.causal(ctx, ts)
			if err != nil {
				return nil, err
			}
			for i, t := range ts {
				out[i][k] = Exact{NegLog: law.NegLog(t.IDs, t.Free, asks[i].LogMu), Rows: 1}
			}
		case samplers.Replayed:
			decoders, at = append(decoders, s), append(at, k)
		}
	}
	all, err := e.Replay(ctx, ts, decoders)
	for i, told := range all {
		for j, x := range told {
			out[i][at[j]] = Exact{NegLog: -x.LogP, Rows: x.Rows}
		}
	}
	return out, err
}

// planned sets −log P of the samplers with a plan.
func planned(out []Exact, ss []*catalog.Sampler, x *text) (err error) {
	for i, s := range ss {
		if law, ok := s.Law().(samplers.Planned); ok && err == nil {
			if err = x.ctx.Err(); err == nil {
				out[i], err = law.NegLog(x)
			}
		}
	}
	return err
}

// Fits returns a [samplers.TooLargeError] with the cost if the exact law of a sampler over d free
// positions takes too many rows, and another error if there is none.
func (e *Evaluator) Fits(d int, s *catalog.Sampler) error {
	if inner, size := e.insideBlocks(s); inner != nil {
		return e.Fits(min(d, size), inner)
	}
	err := s.Law().Fits(d, e.facts.TimeConditioned)
	var large *samplers.TooLargeError
	if err == nil || errors.As(err, &large) {
		return err
	}
	return fault.Errorf("likelihood", "cannot compute a likelihood of %s: %w", s, err)
}

// text is a window as the laws of samplers see it ([samplers.Text]).
type text struct {
	e      *Evaluator
	ctx    context.Context
	target Target
	// table holds the last rows, nil for none; at holds their masked fractions on a time-conditioned
	// network, by the number of masked positions less one.
	table *subset.Table
	at    []float64
}

func (x *text) Free() []int { return x.target.Free }
func (x *text) Timed() bool { return x.e != nil && x.e.facts.TimeConditioned }

// Subsets computes a table, unless it is the last one.
func (x *text) Subsets(lambda func(m int) float64) (*subset.Table, error) {
	var at []float64
	if x.Timed() {
		for m := range x.target.Free {
			at = append(at, lambda(m+1))
		}
	}
	if x.table != nil && slices.Equal(at, x.at) {
		return x.table, nil
	}
	tables, err := x.e.tablesAt(x.ctx, []Target{x.target}, false, lambda)
	if err != nil {
		return nil, err
	}
	x.table, x.at = &tables[0].Table, at
	return x.table, nil
}

// Along reads paths from a table of a network without time, or asks for their rows. Paths that reach
// the same canvas share its row.
func (x *text) Along(paths [][][]int) ([]float64, error) {
	costs := make([]float64, len(paths))
	if x.table != nil && !x.Timed() {
		for k, path := range paths {
			var groups [][]int
			for _, group := range path {
				var ranks []int
				for _, l := range group {
					rank, _ := slices.BinarySearch(x.target.Free, l)
					ranks = append(ranks, rank)
				}
				groups = append(groups, ranks)
			}
			costs[k] = x.table.Along(groups)
		}
		return costs, nil
	}
	l := listing{known: make(map[string]int)}
	for _, path := range paths {
		l.add(&x.target, path)
	}
	if err := x.e.Eval(x.ctx, l.asks); err != nil {
		return nil, err
	}
	for i, path := range l.paths {
		for _, r := range path {
			costs[i] -= l.asks[r.ask].LogMu[r.wanted]
		}
	}
	return costs, nil
}

// listing holds the rows of several paths, each once.
type listing struct {
	asks  []Ask
	known map[string]int // by canvas
	paths [][]row
}

// row is a wanted position of an ask.
type row struct{ ask, wanted int }

func (l *listing) add(t *Target, groups [][]int) {
	var path []row
	masked := slices.Clone(t.Free)
	for _, group := range groups {
		key := maskedKey(masked)
		i, ok := l.known[key]
		if !ok {
			i = len(l.asks)
			l.known[key] = i
			l.asks = append(l.asks, Ask{Target: t, Masked: slices.Clone(masked), Lambda: samplers.ByCount(len(t.Free))(len(masked))})
		}
		have := &l.asks[i]
		for _, position := range group {
			w := slices.Index(have.Wanted, position)
			if w < 0 {
				w = len(have.Wanted)
				have.Wanted = append(have.Wanted, position)
				have.LogMu = append(have.LogMu, 0)
			}
			path = append(path, row{i, w})
		}
		masked = slices.DeleteFunc(masked, func(l int) bool { return slices.Contains(group, l) })
	}
	l.paths = append(l.paths, path)
}

// maskedKey encodes a set of positions as a string.
func maskedKey(masked []int) string {
	key := make([]byte, 0, 3*len(masked))
	for _, l := range masked {
		key = append(key, byte(l), byte(l>>8), byte(l>>16))
	}
	return string(key)
}

// replays reports whether the law of a sampler is computed by repeating its choices on a text.
func replays(s *catalog.Sampler) bool { return samplers.Is[samplers.Replayed](s.Law()) }
