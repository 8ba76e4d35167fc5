package samplers_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// unmasker is a method from outside the package that looks at rows and masks again. It fills the
// canvas by decreasing probability of the best token, two per call, masks the first position once
// more and fills it again. It queries two canvases per call, one without the prompt.
type unmasker struct{}

type unmasking struct {
	c     *samplers.Canvas
	d     *draw.Numbers
	again bool
	bare  []int64
}

func (unmasker) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	return &unmasking{c: c, d: d}, nil
}

func (u *unmasking) Ask(a *samplers.Ask) bool {
	masked := u.c.Masked(nil)
	if len(masked) == 0 {
		return false
	}
	u.bare = slices.Repeat([]int64{int64(u.c.Spec().Mask)}, u.c.Len())
	a.Rows = append(a.Rows, samplers.AskRow{Positions: masked}, samplers.AskRow{Canvas: u.bare, Positions: masked[:1]})
	return true
}

func (u *unmasking) Take(r samplers.Rows, e *samplers.Edit) error {
	masked := u.c.Masked(nil)
	slices.SortStableFunc(masked, func(a, b int) int {
		best := func(l int) float32 { return slices.Max(r.Logits(0, slices.Index(masked, l))) }
		return int(math.Copysign(1, float64(best(b)-best(a))))
	})
	if r.Logits(1, 0)[0] != r.Logits(1, 0)[0] {
		return errors.New("the bare canvas has no row")
	}
	order := u.c.Masked(nil)
	for _, l := range masked[:min(2, len(masked))] {
		token, logP, err := r.Token(0, slices.Index(order, l), u.d.Token(l))
		if err != nil {
			return err
		}
		e.Set(l, token, logP)
	}
	if len(u.c.Masked(nil)) == 0 && !u.again {
		u.again = true
		e.Mask(0)
	}
	return nil
}

// jobs64 returns jobs of different methods, lengths and settings.
func jobs64(t testing.TB) []samplers.Job {
	var out []samplers.Job
	seqs := lawstest.Mixed()
	for i := range 64 {
		var method samplers.Method = unmasker{}
		if k := i % (len(lawstest.Planned) + 1); k < len(lawstest.Planned) {
			method = lawstest.New(t, lawstest.Planned[k])
		}
		half := 0.5
		job := samplers.Job{Canvas: seqs[i%len(seqs)].Canvas, Method: method, Seed: uint64(i % 3), Index: uint64(i)}
		if i%4 == 0 {
			job.Draw.Temperature = &half
		}
		out = append(out, job)
	}
	return out
}

// TestJobsInCompany checks that 64 jobs of different methods and lengths, started together by as
// many goroutines, get the same ids as alone.
func TestJobsInCompany(t *testing.T) {
	jobs := jobs64(t)
	alone := make([]*samplers.Result, len(jobs))
	for i, job := range jobs {
		net := newAnyNet()
		alone[i] = reftest.Must(lawstest.Last(lawstest.Engine(t, net, 1), context.Background(), job))(t, "alone", i)
	}
	for _, batch := range []int{1, 3, 16} {
		net := newAnyNet()
		e := lawstest.Engine(t, net, batch)
		var wait sync.WaitGroup
		for i, job := range jobs {
			wait.Go(func() {
				r, err := lawstest.Last(e, context.Background(), job)
				if err != nil || !slices.Equal(r.IDs, alone[i].IDs) || r.Calls != alone[i].Calls || r.LogP != alone[i].LogP {
					t.Errorf("batch %d, job %d: %+v, alone %+v: %v", batch, i, r, alone[i], err)
				}
			})
		}
		wait.Wait()
		if net.most > batch {
			t.Errorf("batch %d: a call of %d rows", batch, net.most)
		}
	}
}

// anyNet is a hashing network that may be queried about any position, and records its greatest call.
type anyNet struct {
	lawstest.HashNet
	most int
	hold chan struct{} // if not nil, a call waits for it
	in   atomic.Int64  // calls that have begun
	poor func(ids []int64) error
}

func newAnyNet() *anyNet { return &anyNet{HashNet: *lawstest.NewHashNet(false)} }

func (n *anyNet) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	n.in.Add(1)
	n.most = max(n.most, len(c.Counts))
	if n.hold != nil {
		select {
		case <-n.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if n.poor != nil {
		for canvas := range slices.Chunk(c.IDs, c.Length()) {
			if err := n.poor(canvas); err != nil {
				return nil, err
			}
		}
	}
	out, err := n.HashNet.Logits(ctx, c)
	n.Bad = ""
	return out, err
}

// TestCancelEndsACall checks that a call is cancelled when all of its jobs are, and that a waiting
// job ends immediately when cancelled.
func TestCancelEndsACall(t *testing.T) { synctest.Test(t, testCancelEndsACall) }

func testCancelEndsACall(t *testing.T) {
	net := newAnyNet()
	net.hold = make(chan struct{})
	e := lawstest.Engine(t, net, 2)
	ctx, cancel := context.WithCancel(context.Background())
	errs := make(chan error)
	for i := range 5 {
		go func() {
			_, err := lawstest.Last(e, ctx, samplers.Job{Method: plan.NewFHS(0), Canvas: []int{6, 6}, Index: uint64(i)})
			errs <- err
		}()
	}
	synctest.Wait() // until one is in a call
	cancel()
	for range 5 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	close(net.hold)
	reftest.OK(t, reftest.Err(lawstest.Last(e, context.Background(), samplers.Job{Method: plan.NewFHS(0), Canvas: []int{6, 6}})), "a job after all that")
}

// TestSlowReader checks that a consumer that stops reading blocks nobody, and that its own job has
// finished when it continues.
func TestSlowReader(t *testing.T) {
	net := newAnyNet()
	e := lawstest.Engine(t, net, 2)
	read := 0
	for s, err := range e.Sample(context.Background(), samplers.Job{Method: plan.NewFHS(0), Canvas: slices.Repeat([]int{6}, 9)}) {
		reftest.OK(t, err)
		if read++; read == 1 {
			for i := range uint64(20) {
				reftest.OK(t, reftest.Err(lawstest.Last(e, context.Background(), samplers.Job{Method: plan.NewFHS(0), Canvas: []int{6, 6, 6, 6, 6, 6, 6, 6, 6}, Index: 1 + i})))
			}
		}
		if (s.Result != nil) != (read == 9) || len(s.Tokens) != 1 {
			t.Errorf("step %d: %+v", read, s)
		}
	}
	if read != 9 {
		t.Errorf("%d steps of 9", read)
	}
}

// TestClose checks that unfinished jobs end with ErrClosed, as do later ones, and that no goroutine
// is left.
func TestClose(t *testing.T) { synctest.Test(t, testClose) } // fails if a goroutine is left

func testClose(t *testing.T) {
	net := newAnyNet()
	net.hold = make(chan struct{}, 1000)
	net.hold <- struct{}{}
	e := reftest.Must(samplers.NewEngine(net, 1))(t)
	errs := make(chan error)
	for i := range 3 {
		go func() {
			_, err := lawstest.Last(e, context.Background(), samplers.Job{Method: plan.NewFHS(0), Canvas: slices.Repeat([]int{6}, 9), Index: uint64(i)})
			errs <- err
		}()
	}
	synctest.Wait() // until the second call waits
	go func() {
		// The call ends when the engine is being closed, which jobs notice immediately.
		for err := error(nil); !errors.Is(err, samplers.ErrClosed); {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			_, err = lawstest.Last(e, ctx, samplers.Job{Method: plan.NewFHS(0)})
			cancel()
		}
		net.hold <- struct{}{}
	}()
	e.Close()
	e.Close()
	for range 3 {
		if err := <-errs; !errors.Is(err, samplers.ErrClosed) {
			t.Errorf("error %v", err)
		}
	}
	if _, err := lawstest.Last(e, context.Background(), samplers.Job{Method: plan.NewFHS(0), Canvas: []int{6}}); !errors.Is(err, samplers.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestMaskedAgain checks that a position that is masked again is drawn with another uniform, and is
// reported as masked.
func TestMaskedAgain(t *testing.T) {
	net := newAnyNet()
	e := lawstest.Engine(t, net, 2)
	different, n := 0, 40
	for i := range n {
		var first, masked, drawn int
		for s, err := range e.Sample(context.Background(), samplers.Job{Canvas: []int{6, 6, 6, 6}, Method: unmasker{}, Index: uint64(i)}) {
			reftest.OK(t, err)
			masked += len(s.Masked)
			for k, l := range s.Positions {
				if l == 0 {
					if drawn++; drawn == 1 {
						first = s.Tokens[k]
					} else if s.Tokens[k] != first {
						different++
					}
				}
			}
			if r := s.Result; r != nil && (r.Left != 0 || r.Calls != 3 || r.Rows != 6) {
				t.Errorf("result %+v: want 3 calls of two canvases", r)
			}
		}
		if masked != 1 || drawn != 2 {
			t.Fatalf("position 0 was masked %d times and drawn %d times", masked, drawn)
		}
	}
	if different == 0 {
		t.Errorf("in %d sequences the second draw is always the first", n)
	}
}
