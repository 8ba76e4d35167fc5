package samplers

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"
)

// ErrClosed is the error of jobs that a closed engine did not finish.
var ErrClosed = errors.New("samplers: the engine is closed")

// Engine fills canvases for many callers at once: a call of the network holds rows of
// whatever jobs have canvases of one length, a job joins at any call and leaves at any
// call. The network belongs to the engine's own goroutine until [Engine.Close].
type Engine struct {
	inner *engine
	wake  chan struct{} // has room for one: something came in
	done  chan struct{}

	mu     sync.Mutex
	came   []func()
	closed bool
	totals Totals
	begin  time.Time
}

// NewEngine starts an engine on a network; batch is the greatest number of rows of a
// call, 0 is 1.
func NewEngine(net Network, batch int) (*Engine, error) {
	inner, err := newEngine(net, batch)
	if err != nil {
		return nil, err
	}
	e := &Engine{inner: inner, wake: make(chan struct{}, 1), done: make(chan struct{}), begin: time.Now()}
	go e.run()
	return e, nil
}

// Sample runs a job and yields what each call did to it; the last step has the result. It
// may be called by any goroutine and is used once. An error is the last thing that is
// yielded: of the job itself, of its context, or [ErrClosed]. A job begins when the first step is asked for, and
// goes on whether or not its steps are read: nobody waits for a slow reader. Leaving the
// loop cancels it.
func (e *Engine) Sample(ctx context.Context, job Job) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		box := &mailbox{ready: make(chan struct{}, 1)}
		if !e.submit(func() { e.inner.admit(ctx, job, box.step, box.end) }) {
			yield(Step{}, ErrClosed)
			return
		}
		for {
			steps, ended, err := box.empty()
			for _, s := range steps {
				if !yield(s, nil) {
					return
				}
			}
			switch {
			case ended && err != nil:
				yield(Step{}, err)
				return
			case ended:
				return
			}
			select {
			case <-box.ready:
			case <-ctx.Done():
				yield(Step{}, ctx.Err())
				return
			}
		}
	}
}

// Totals are those of the calls that were made so far.
func (e *Engine) Totals() Totals {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.totals
}

// Close ends the engine: a call that is under way is the last, jobs that are not finished
// end with [ErrClosed]. It returns when the network is no longer used. It may be called
// twice.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.nudge()
	<-e.done
}

// submit hands work to the engine's goroutine, false where it is closed.
func (e *Engine) submit(work func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.came = append(e.came, work)
	e.nudge()
	return true
}

func (e *Engine) nudge() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// run is the engine's goroutine. It never waits for a source while there is work.
func (e *Engine) run() {
	defer close(e.done)
	for {
		e.mu.Lock()
		came, closed := e.came, e.closed
		e.came = nil
		e.totals = e.inner.totals
		e.totals.Sampling = time.Since(e.begin) - e.totals.Network
		e.mu.Unlock()
		for _, admit := range came {
			admit()
		}
		e.inner.drop()
		switch {
		case closed:
			for _, t := range e.inner.queue {
				t.ended(t.result, ErrClosed)
			}
			return
		case len(e.inner.queue) == 0:
			if len(came) == 0 {
				<-e.wake
			}
		default:
			// The error is that of contexts that have ended: their tasks are dropped next.
			_ = e.inner.round()
		}
	}
}

// mailbox holds what happened to a job until it is read.
type mailbox struct {
	mu    sync.Mutex
	steps []Step
	ended bool
	err   error
	ready chan struct{} // has room for one
}

func (b *mailbox) step(s Step) {
	b.mu.Lock()
	b.steps = append(b.steps, s.clone())
	b.mu.Unlock()
	b.tell()
}

func (b *mailbox) end(_ Result, err error) {
	b.mu.Lock()
	b.ended, b.err = true, err
	b.mu.Unlock()
	b.tell()
}

func (b *mailbox) tell() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// empty takes what is there.
func (b *mailbox) empty() (steps []Step, ended bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	steps, b.steps = b.steps, nil
	return steps, b.ended, b.err
}
