package likelihood

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"mdmgen/samplers"
)

// LawsOf returns −log P of several samplers on each of several windows, by whatever takes
// the fewest rows: it calls emit with the laws of each window and the number of its rows, in
// the order of the windows and on the caller's goroutine.
//
// On a network without time samplers share 2^d rows, which are kept whole where a sampler's
// fill looks back ([RowTable]); an order that is not random takes d of its own. A
// time-conditioned network is asked for 2^d rows at every node of a quadrature, which FHS
// and parallel FHS share, as do uniformization and MATU between the same ends; 2^d a
// step by the samplers on a grid, and by raw scores with any network; 2^d in all by extrapolated
// and paired FHS.
//
// What needs no more rows is worked out on all processors while the next window's are asked
// for, so that whole rows of two windows are in memory, each of [RowBytes] at most; they
// are kept for the next call. The values do not depend on how windows share a call. What
// [Evaluator.Fits] refuses is refused before any row of the window is asked for. Where ctx ends
// or emit returns an error, LawsOf returns it, and nothing goes on behind it.
func (e *Evaluator) LawsOf(ctx context.Context, ts []Target, ss []*samplers.Sampler, emit func(i int, laws []Exact, rows int) error) error {
	var last *windowLaws
	for i := range ts {
		next, err := e.ask(ctx, ts[i], ss, i%2)
		// What is known is told before what went wrong after it.
		if last != nil {
			laws, failed := last.wait()
			if failed == nil {
				failed = emit(i-1, laws, last.rows)
			}
			if failed != nil {
				return failed
			}
		}
		if err != nil {
			return err
		}
		next.start(ctx)
		last = next
	}
	if last == nil {
		return nil
	}
	laws, err := last.wait()
	if err != nil {
		return err
	}
	return emit(len(ts)-1, laws, last.rows)
}

// windowLaws are the laws of one window.
type windowLaws struct {
	samplers []*samplers.Sampler
	laws     []Exact
	// left are the samplers whose laws a table tells, one of the two below.
	left  []int
	table *Table
	whole *RowTable
	// rows is the number of network rows of the window.
	rows int
	done chan struct{}
	errs []error
}

// ask asks for all rows of a window, whole ones into one of the memories that are used again, and
// works out what cannot wait.
func (e *Evaluator) ask(ctx context.Context, t Target, ss []*samplers.Sampler, scratch int) (*windowLaws, error) {
	if err := e.Check(t); err != nil {
		return nil, err
	}
	for _, s := range ss {
		if err := e.Fits(len(t.Free), s); err != nil {
			return nil, err
		}
	}
	before := e.totals.Rows
	w := &windowLaws{samplers: ss, laws: make([]Exact, len(ss)), errs: make([]error, len(ss))}
	ask := lawAsker{e: e, ctx: ctx, target: t, timed: make(map[[2]float64]*TimedTable)}
	for i, s := range ss {
		var err error
		switch {
		case isChain(s):
			w.laws[i].NegLog, err = e.chain(ctx, t, s)
		case isRaw(s):
			w.laws[i], err = ask.rawLaw(s)
		case e.facts.TimeConditioned:
			w.laws[i], err = ask.timedLaw(s)
		default:
			w.left = append(w.left, i)
		}
		if err != nil {
			return nil, err
		}
	}
	var err error
	switch {
	case len(w.left) == 0:
	case slices.ContainsFunc(w.left, func(i int) bool { return looksBack(ss[i]) }):
		w.whole, err = e.rowsInto(ctx, t, false, scratch, func(int) float64 { return 1 })
	default:
		w.table, err = e.Table(ctx, t, false)
	}
	w.rows = e.totals.Rows - before
	return w, err
}

// start begins to work out what is left, a sampler at a time on each processor. What
// samplers share is worked out before, so that no value depends on which of them is first.
func (w *windowLaws) start(ctx context.Context) {
	w.done = make(chan struct{})
	go func() {
		defer close(w.done)
		if w.whole != nil {
			w.share(ctx)
		}
		var next sync.Mutex
		at := 0
		take := func() int {
			next.Lock()
			defer next.Unlock()
			at++
			return at - 1
		}
		var wg sync.WaitGroup
		for range min(runtime.GOMAXPROCS(0), len(w.left)) {
			wg.Go(func() {
				for k := take(); k < len(w.left); k = take() {
					i := w.left[k]
					if w.errs[i] = ctx.Err(); w.errs[i] == nil {
						w.laws[i], w.errs[i] = w.law(w.samplers[i])
					}
				}
			})
		}
		wg.Wait()
	}()
}

func (w *windowLaws) law(s *samplers.Sampler) (Exact, error) {
	if w.whole != nil {
		return w.whole.Sampler(s)
	}
	return w.table.Sampler(s)
}

// share works out the mixtures of trapezoidal samplers, those of all pairs first: they have
// what a single step needs.
func (w *windowLaws) share(ctx context.Context) {
	var shared []mixture
	for _, i := range w.left {
		if of, ok := mixtureOf(w.samplers[i]); ok {
			shared = append(shared, of)
		}
	}
	slices.SortStableFunc(shared, func(a, b mixture) int {
		switch {
		case a.first == b.first:
			return 0
		case b.first:
			return -1
		}
		return 1
	})
	for _, of := range shared {
		if ctx.Err() != nil {
			return
		}
		w.whole.mixes(w.whole.tilt(), of)
	}
}

// wait returns the laws when all are known, or the first sampler's error.
func (w *windowLaws) wait() ([]Exact, error) {
	<-w.done
	for _, err := range w.errs {
		if err != nil {
			return nil, err
		}
	}
	return w.laws, nil
}
