package cache_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestEngineFrees checks that jobs that end, fail or are cancelled free what they keep, and that
// other jobs have the same ids as alone.
func TestEngineFrees(t *testing.T) {
	t.Parallel()
	net := newToy(5, 20)
	canvas := masks(net, 14, 1)
	s := lawstest.NewFor(t, catalog.Options{Cache: "window:1/6", Audit: 0.2, LayerOptions: catalog.LayerOptions{Guidance: 0.5}}, net.Spec())
	want, _ := fill(t, net, s, canvas, 16, samplers.Config{})
	var calm atomic.Bool
	poor := errors.New("no room")
	net.fail = func(call int64) error {
		if call%9 == 0 && !calm.Load() {
			return poor
		}
		return nil
	}
	e := reftest.Must(samplers.NewEngine(net, 8))(t)
	defer e.Close()
	var wait sync.WaitGroup
	var done, failed atomic.Int64
	for i := range uint64(16) {
		wait.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			steps := 0
			for step, err := range e.Sample(ctx, samplers.Job{Canvas: canvas, Method: s, Index: i}) {
				if steps++; i%3 == 0 && steps == 5 {
					cancel()
				}
				if err != nil {
					failed.Add(1)
					if !errors.Is(err, context.Canceled) && !errors.Is(err, poor) {
						t.Errorf("job %d: %v", i, err)
					}
				} else if step.Result != nil {
					done.Add(1)
					if !slices.Equal(step.Result.IDs, want[i].IDs) {
						t.Errorf("job %d: ids %v, alone %v", i, step.Result.IDs, want[i].IDs)
					}
				}
			}
		})
	}
	wait.Wait()
	// Another job ends when the cancelled ones are gone.
	calm.Store(true)
	for _, err := range e.Sample(context.Background(), samplers.Job{Canvas: canvas, Method: s}) {
		reftest.OK(t, err)
	}
	if totals := e.Totals(); totals.Kept != 0 || totals.MostKept == 0 || failed.Load() == 0 || done.Load() == 0 {
		t.Errorf("%d bytes are kept, at most %d; %d jobs failed, %d are done", totals.Kept, totals.MostKept, failed.Load(), done.Load())
	}
}

// TestKilled checks that an engine that is closed, and a run that is cancelled, with eight
// unfinished sequences keep nothing afterwards, with memory for all or for two. A new run of the
// missing sequences gives the same ids as each has alone.
func TestKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testKilled)
}

func testKilled(t *testing.T) {
	net := newToy(5, 20)
	canvas := masks(net, 14, 1)
	s := lawstest.NewFor(t, catalog.Options{Cache: "window:1/6", Lookahead: 2}, net.Spec())
	want, alone := fill(t, net, s, canvas, 24, samplers.Config{})

	e := reftest.Must(samplers.NewEngine(net, 8))(t)
	var wait sync.WaitGroup
	first := net.calls.Load()
	net.fail = func(call int64) error {
		if call == first+5 {
			wait.Go(e.Close)
		}
		if call == first+1 || call == first+5 { // so that all have arrived, and it is closed during a call
			time.Sleep(time.Millisecond) // until all wait
		}
		return nil
	}
	for i := range uint64(8) {
		wait.Go(func() {
			for _, err := range e.Sample(context.Background(), samplers.Job{Canvas: canvas, Method: s, Index: i}) {
				if err != nil && !errors.Is(err, samplers.ErrClosed) {
					t.Errorf("job %d: %v", i, err)
				}
			}
		})
	}
	wait.Wait()
	if totals := e.Totals(); totals.Kept != 0 || totals.MostKept < 2*alone.MostKept {
		t.Errorf("closed: %d bytes are kept, at most %d", totals.Kept, totals.MostKept)
	}

	for _, room := range []int64{0, 2 * alone.MostKept} {
		got := make(map[uint64][]int)
		for ends := int64(5); len(got) < len(want); ends += 20 {
			ctx, cancel := context.WithCancel(context.Background())
			before := net.calls.Load()
			totals, err := samplers.Sample(ctx, net, func(yield func(samplers.Sequence) bool) {
				for i := range uint64(len(want)) {
					if got[i] == nil && !yield(samplers.Sequence{Index: i, Canvas: canvas}) {
						return
					}
				}
			}, samplers.Config{Method: s, Batch: 8, Keep: room, OnStep: func(samplers.Step) {
				if net.calls.Load()-before > ends {
					cancel()
				}
			}}, func(r samplers.Result) error {
				got[r.Index] = slices.Clone(r.IDs)
				return nil
			})
			cancel()
			if err != nil && !errors.Is(err, context.Canceled) || totals.Kept != 0 || totals.MostKept == 0 || room > 0 && totals.MostKept > room {
				t.Errorf("%v: %d bytes are kept, at most %d, room for %d", err, totals.Kept, totals.MostKept, room)
			}
		}
		for i, r := range want {
			if !slices.Equal(got[i], r.IDs) {
				t.Errorf("sequence %d: ids %v, alone %v", i, got[i], r.IDs)
			}
		}
	}
}
