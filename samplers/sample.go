package samplers

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"mdmgen/samplers/draw"
)

// Sequence is one canvas of a list.
type Sequence struct {
	// Index identifies the sequence: together with the seed it determines its random numbers.
	Index uint64
	// Canvas holds ids, MASK at the positions to be sampled. It is not changed, and
	// several sequences may share it.
	Canvas []int
	// Method fills it; nil means the method of the whole list.
	Method Method
	// Seed, if not nil, replaces the seed of the list, and Stream then replaces Index in its random
	// numbers.
	Seed   *uint64
	Stream uint64
}

// Config configures [Sample].
type Config struct {
	// Method fills the sequences that have no method of their own. Draw configures how tokens are
	// drawn: see [Job].
	Method Method
	Draw   draw.Settings
	Seed   uint64
	// Batch is the greatest number of sequences in a call; 0 is 1. A call has at most that many rows,
	// or that number times the [Canvases] of a method. The additional rows hold at most 32768 positions
	// in all; the canvases of a sequence that do not fit into one call are queried in several.
	Batch int
	// Keep bounds the memory, in bytes, for the keys and values that sequences keep ([Keeper]);
	// sequences beyond it wait for others to finish. 0 is no bound.
	Keep int64
	// Store, if not nil, holds rows that sequences share, also with those of other runs.
	Store *Store
	// Top, if above 0, is the number of most probable tokens that steps list with each drawn token.
	// It changes log-probabilities by the rounding of float32 if the network draws.
	Top int
	// OnStep observes what each call did to each sequence. OnFault is called with the error of a
	// failed sequence, and may return it to end the run; if OnFault is nil, the first error ends
	// the run. Both are called by the goroutine that called [Sample] and may be nil. The argument
	// of OnStep is valid only during its call.
	OnStep  func(Step)
	OnFault func(index uint64, err error) error
}

// Copies yields n sequences of one canvas, whose indices count from first.
func Copies(canvas []int, first uint64, n int) iter.Seq[Sequence] {
	return func(yield func(Sequence) bool) {
		for i := range uint64(n) {
			if !yield(Sequence{Index: first + i, Canvas: canvas}) {
				return
			}
		}
	}
}

// ByLength yields sequences grouped by the length of their canvas, in the order in which the lengths
// first occur. Rows of a call share a length, so [Sample] fills its batch best in this order.
func ByLength(seqs []Sequence) iter.Seq[Sequence] {
	place := make(map[int]int) // by length
	for _, s := range seqs {
		if _, ok := place[len(s.Canvas)]; !ok {
			place[len(s.Canvas)] = len(place)
		}
	}
	sorted := slices.Clone(seqs)
	slices.SortStableFunc(sorted, func(a, b Sequence) int { return place[len(a.Canvas)] - place[len(b.Canvas)] })
	return slices.Values(sorted)
}

// Sample fills a list of sequences and passes each to emit as it finishes, not necessarily in their
// order. As many are in progress as a call holds, and the next one immediately takes the place of a
// finished one, so calls are the same in every run. A source that has to wait for its next sequence
// should use an [Engine]. A canvas for which the method asks nothing takes no call.
//
// The ids of a sequence depend on the network, the method, the seed and the index. They do not
// depend on the batch or the order of sequences if the network's rows do not.
//
// Sample stops at the first error: that of emit, of OnFault or of the context. Sequences that
// finished before have been passed to emit and are counted in the totals.
func Sample(ctx context.Context, net Network, seqs iter.Seq[Sequence], cfg Config, emit func(Result) error) (Totals, error) {
	begin := time.Now()
	e, err := newEngine(net, cfg.Batch)
	if err == nil {
		_, err = e.draw.With(cfg.Draw, draw.ByInverse)
	}
	if err != nil {
		return Totals{}, err
	}
	e.keep = cfg.Keep
	e.attach(cfg.Store)
	next, stop := iter.Pull(seqs)
	defer stop()
	var failed error
	ended := func(r Result, err error) {
		switch {
		case failed != nil || ctx.Err() != nil && err != nil:
		case err == nil:
			failed = emit(r)
		case cfg.OnFault == nil:
			failed = err
		default:
			failed = cfg.OnFault(r.Index, err)
		}
	}
	for more := true; failed == nil && ctx.Err() == nil; {
		if more && len(e.queue) < e.batch {
			var s Sequence
			if s, more = next(); more {
				job := Job{Canvas: s.Canvas, Method: cmp.Or(s.Method, cfg.Method), Draw: cfg.Draw, Seed: cfg.Seed, Index: s.Index, Top: cfg.Top}
				if s.Seed != nil {
					job.Seed, job.Index = *s.Seed, s.Stream
				}
				e.admit(ctx, job, s.Index, cfg.OnStep, ended)
			}
			continue
		}
		if len(e.queue) == 0 {
			break
		}
		e.round()
	}
	if failed == nil {
		failed = ctx.Err()
	}
	e.freeAll()
	e.totals.Sampling = time.Since(begin) - e.totals.Network
	return e.totals, failed
}

// Fill fills one canvas, which holds ids, MASK at the positions to be sampled, and returns the result.
func Fill(ctx context.Context, net Network, canvas []int, m Method, seed uint64) (ids []int, err error) {
	one := func(yield func(Sequence) bool) { yield(Sequence{Canvas: canvas}) }
	_, err = Sample(ctx, net, one, Config{Method: m, Seed: seed}, func(r Result) error {
		ids = r.IDs
		return nil
	})
	return ids, err
}

// SequenceError is the error of a sequence that failed.
type SequenceError struct {
	// Index is the job's index.
	Index uint64
	Err   error
}

// Error implements error.
func (e *SequenceError) Error() string { return fmt.Sprintf("sequence %d: %v", e.Index, e.Err) }

// Unwrap returns the cause.
func (e *SequenceError) Unwrap() error { return e.Err }
