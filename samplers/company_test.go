package samplers_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// TestCancelBesideOthers cancels jobs while calls for several of them begin and end: the count of
// ended contexts of one call must not affect the next.
func TestCancelBesideOthers(t *testing.T) {
	stops := make([]context.CancelFunc, 6)
	calls := 0
	net := newAnyNet()
	net.poor = func(ids []int64) error {
		if calls++; calls > 10 { // at the end of a call, so that contexts end while the next begins
			stops[ids[0]]()
		}
		return nil
	}
	e := lawstest.Engine(t, net, 4)
	for range 20 {
		var wait sync.WaitGroup
		for i := range stops {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			stops[i] = cancel
			wait.Go(func() {
				_, err := lawstest.Last(e, ctx, samplers.Job{Method: plan.NewFHS(0), Canvas: []int{i, 6, 6, 6, 6, 6, 6}, Index: uint64(i)})
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("job %d: %v", i, err)
				}
			})
		}
		wait.Wait()
		_, err := lawstest.Last(e, context.Background(), samplers.Job{Method: plan.NewFHS(0)}) // the engine has no other work
		if calls = 0; err != nil {
			t.Error(err)
		}
	}
}

// TestJobIsTheCallersAgain checks that the engine no longer uses the job after Sample has returned,
// even if the job was cancelled before it began.
func TestJobIsTheCallersAgain(t *testing.T) { synctest.Test(t, testJobIsTheCallersAgain) }

func testJobIsTheCallersAgain(t *testing.T) {
	net := newAnyNet()
	net.hold = make(chan struct{})
	e := lawstest.Engine(t, net, 1)
	go func() {
		_, _ = lawstest.Last(e, context.Background(), samplers.Job{Method: plan.NewFHS(0), Canvas: []int{6}})
	}()
	synctest.Wait() // until it is in a call
	canvas, temperature := []int{6, 6}, 0.5
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := lawstest.Last(e, ctx, samplers.Job{Method: plan.NewFHS(0), Canvas: canvas, Draw: draw.Settings{Temperature: &temperature}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	close(net.hold)
	canvas[0], temperature = 1, 2
}

// TestWideAsks checks that the rows of one ask that come from several calls are complete, alone and
// with other jobs, although the network reuses its memory.
func TestWideAsks(t *testing.T) {
	for _, batch := range []int{1, 2, 3, 16} {
		net := newAnyNet()
		e := lawstest.Engine(t, net, batch)
		var wait sync.WaitGroup
		for i := range 7 {
			wait.Go(func() {
				if _, err := lawstest.Last(e, context.Background(), samplers.Job{Canvas: []int{i % 6, 6, 6, 6, 6, 6}, Method: wide{1 + i%5}, Index: uint64(i)}); err != nil {
					t.Errorf("batch %d, job %d: %v", batch, i, err)
				}
			})
		}
		wait.Wait()
	}
}

// wide asks about each masked position on n canvases and compares each row with the network's row
// for that canvas alone.
type wide struct{ n int }

type widely struct {
	n    int
	c    *samplers.Canvas
	rows []samplers.AskRow
}

func (w wide) Start(c *samplers.Canvas, _ *draw.Numbers) (samplers.Decoder, error) {
	return &widely{n: w.n, c: c}, nil
}

func (w *widely) Ask(a *samplers.Ask) bool {
	masked := w.c.Masked(nil)
	if len(masked) == 0 {
		return false
	}
	w.rows = w.rows[:0]
	for i := range w.n {
		canvas := slices.Clone(w.c.IDs())
		canvas[0] = int64(i)
		w.rows = append(w.rows, samplers.AskRow{Canvas: canvas, Positions: masked[:1+i%len(masked)]})
	}
	a.Rows = append(a.Rows, w.rows...)
	return true
}

func (w *widely) Take(r samplers.Rows, e *samplers.Edit) error {
	alone := newAnyNet()
	for i, row := range w.rows {
		for j, l := range row.Positions {
			want, err := alone.Logits(context.Background(), samplers.Call{IDs: row.Canvas, Positions: []int64{int64(l)}, Counts: []int{1}})
			if err != nil || !slices.Equal(r.Logits(i, j), want) {
				return fmt.Errorf("row (%d, %d) is another one", i, j)
			}
		}
	}
	e.Set(w.rows[0].Positions[0], 1, 0)
	return nil
}

// TestTotalsHaveTheJob checks that the totals include the calls of a job that has ended, and
// exclude the time without work.
func TestTotalsHaveTheJob(t *testing.T) { synctest.Test(t, testTotalsHaveTheJob) }

func testTotalsHaveTheJob(t *testing.T) {
	e := lawstest.Engine(t, newAnyNet(), 1)
	for i := range 200 {
		reftest.OK(t, reftest.Err(lawstest.Last(e, context.Background(), samplers.Job{Method: plan.NewFHS(0), Canvas: []int{6, 6}})))
		if got := e.Totals(); got.Sequences != i+1 || got.Calls != 2*(i+1) || got.NetworkCalls != 2*(i+1) {
			t.Fatalf("after %d jobs of 2 calls: %+v", i+1, got)
		}
	}
	time.Sleep(300 * time.Millisecond)
	before := e.Totals().Sampling
	reftest.OK(t, reftest.Err(lawstest.Last(e, context.Background(), samplers.Job{Method: plan.NewFHS(0), Canvas: []int{6, 6}})))
	if after := e.Totals().Sampling; after != before {
		t.Errorf("%v are counted in which there was nothing to do", after-before)
	}
}

// TestPanicIsTheCallers checks that a panic of a method is raised in its own caller's loop, and
// that the other jobs finish.
func TestPanicIsTheCallers(t *testing.T) {
	e := lawstest.Engine(t, newAnyNet(), 4)
	one := func(a *samplers.Ask) { a.Rows = append(a.Rows, samplers.AskRow{Positions: []int{0}}) }
	for name, method := range map[string]samplers.Method{
		"start": broken{},
		"ask":   scripted{func(*samplers.Ask) { panic("oh no") }, nil},
		"take":  scripted{one, func(*samplers.Edit) { panic("oh no") }},
	} {
		wait := accompany(t, e, name)
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, "oh no") || !strings.Contains(p, "company_test.go") {
					t.Errorf("%s: panic %q: want its value and where it was", name, p)
				}
			}()
			_, err := lawstest.Last(e, context.Background(), samplers.Job{Canvas: []int{6, 6, 6}, Method: method})
			t.Errorf("%s: no panic; error %v", name, err)
		}()
		wait()
	}
}

type broken struct{}

func (broken) Start(*samplers.Canvas, *draw.Numbers) (samplers.Decoder, error) { panic("oh no") }

// TestEndlessSource checks that Sample leaves a source of canvases that need no call when the
// context ends.
func TestEndlessSource(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	net := lawstest.NewHashNet(false)
	n := 0
	_, err := samplers.Sample(ctx, net, samplers.Copies([]int{1}, 0, 1000), lawstest.Config(nil, 4), func(samplers.Result) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 10 {
		t.Errorf("%d results, error %v", n, err)
	}
}

// TestLastStepBeforeAFault checks that a call's step is yielded even if the decoder then makes an
// invalid request, and that there are as many hits as positions.
func TestLastStepBeforeAFault(t *testing.T) {
	asked := 0
	method := scripted{func(a *samplers.Ask) {
		asked++
		a.Rows = append(a.Rows, samplers.AskRow{Positions: []int{4 * (asked - 1)}})
	}, func(e *samplers.Edit) {
		e.Set(0, 1, 0)
		e.Set(1, 2, 0)
		e.Hit(0.5)
		e.Set(2, 3, 0)
	}}
	var steps []samplers.Step
	var fault error
	for s, err := range lawstest.Engine(t, newAnyNet(), 1).Sample(context.Background(), samplers.Job{Canvas: []int{6, 6, 6}, Method: method}) {
		if fault = err; err == nil {
			steps = append(steps, s)
		}
	}
	if len(steps) != 1 || !slices.Equal(steps[0].Tokens, []int{1, 2, 3}) || !slices.Equal(steps[0].Hits, []float64{0, 0.5, 0}) {
		t.Errorf("steps %+v", steps)
	}
	if fault == nil || !strings.Contains(fault.Error(), "about position 4") {
		t.Errorf("error %v", fault)
	}
}

// TestAsksThatNoNetworkAnswers checks that they are rejected before a network call.
func TestAsksThatNoNetworkAnswers(t *testing.T) {
	for want, row := range map[string]samplers.AskRow{
		"id 9 at position 1":  {Canvas: []int64{6, 9}, Positions: []int{0}, Theta: 1},
		"id -1 at position 0": {Canvas: []int64{-1, 6}, Positions: []int{0}, Theta: 1},
		"NaN":                 {Positions: []int{0}, Theta: math.NaN()},
		"-1":                  {Positions: []int{0}, Theta: -1},
	} {
		net := lawstest.NewHashNet(true)
		job := samplers.Job{Canvas: []int{6, 6}, Method: scripted{func(a *samplers.Ask) { a.Rows = append(a.Rows, row) }, func(*samplers.Edit) {}}}
		if _, err := lawstest.Last(lawstest.Engine(t, net, 1), context.Background(), job); err == nil || !strings.Contains(err.Error(), want) || net.Calls > 0 {
			t.Errorf("error %v after %d calls: want one with %q", err, net.Calls, want)
		}
	}
}

// TestStepOfAFullCanvas checks that the step contains nothing of the sequence whose memory it reuses.
func TestStepOfAFullCanvas(t *testing.T) {
	net := lawstest.NewHashNet(true)
	seqs := slices.Values([]samplers.Sequence{{Index: 1, Canvas: []int{6, 6}}, {Index: 2, Canvas: []int{1, 2}}})
	cfg := lawstest.Config(nil, 1)
	cfg.OnStep = func(s samplers.Step) {
		if s.Index == 2 && (s.Rows != 0 || s.Step != 0 || s.Theta != 0 || len(s.Tokens)+len(s.Hits) > 0 || s.Result == nil) {
			t.Errorf("step %+v", s)
		}
	}
	lawstest.Collect(t, net, seqs, cfg)
}

// TestOptionsDraw checks that a sampler draws by its own options if the job has none, and that the
// job's temperature is read for each job, whatever the variable held before.
func TestOptionsDraw(t *testing.T) {
	s := lawstest.New(t, catalog.Options{Draw: draw.Settings{Temperature: new(float64)}})
	e := lawstest.Engine(t, newAnyNet(), 1)
	temperature := 1.0
	for _, test := range []struct {
		draw draw.Settings
		at   float64
	}{{draw.Settings{}, 0}, {draw.Settings{Temperature: &temperature}, 1}, {draw.Settings{Temperature: &temperature}, 0}} {
		temperature = test.at
		r, err := lawstest.Last(e, context.Background(), samplers.Job{Canvas: slices.Repeat([]int{6}, 20), Method: s, Draw: test.draw})
		if err != nil || (r.LogP == 0) != (test.at == 0) {
			t.Errorf("%+v: log p = %v, error %v", test.draw, r.LogP, err)
		}
	}
}

// TestClientsTakeTurns checks that a request takes at most four times its time alone beside a client
// with several long requests, or beside such requests of its own client, and that these get half of the
// time. A call takes a millisecond for each position.
func TestClientsTakeTurns(t *testing.T) { synctest.Test(t, testClientsTakeTurns) }

func testClientsTakeTurns(t *testing.T) {
	var long atomic.Int64 // nanoseconds of the others' calls
	net := newAnyNet()
	net.poor = func(ids []int64) error {
		took := time.Duration(len(ids)) * time.Millisecond
		if time.Sleep(took); len(ids) == 64 {
			long.Add(int64(took))
		}
		return nil
	}
	e := lawstest.Engine(t, net, 4)
	fill := func(ctx context.Context, length int, turn *samplers.Turn) {
		job := samplers.Job{Method: plan.NewFHS(0), Canvas: slices.Repeat([]int{6}, length), Turn: turn}
		if _, err := lawstest.Last(e, ctx, job); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	const alone = 16 * 16 * time.Millisecond
	other := new(samplers.Turn)
	for _, one := range []*samplers.Turn{new(samplers.Turn), other} {
		ctx, cancel := context.WithCancel(context.Background())
		for range 4 {
			go func() {
				for turn := new(samplers.Turn); ctx.Err() == nil; {
					turn.Of = other
					fill(ctx, 64, turn)
				}
			}()
		}
		time.Sleep(time.Second)
		long.Store(0)
		begin := time.Now()
		for range 5 {
			fill(ctx, 16, &samplers.Turn{Of: one})
		}
		took := time.Since(begin)
		if theirs := time.Duration(long.Load()); took > 5*4*alone || theirs < took/2-alone {
			t.Errorf("five requests take %v, of which %v are the others': want at most %v", took, theirs, 5*4*alone)
		}
		cancel()
		synctest.Wait()
	}
}
