package samplers

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"mdmgen/internal/fault"
)

// ErrClosed is the error of jobs that a closed engine did not finish.
var ErrClosed = fault.Errorf("samplers", "the engine is closed")

// Engine fills canvases for many callers at once: a call of the network holds rows of
// whatever jobs have canvases of one length, a job joins at any call and leaves at any
// call. The network belongs to the engine's own goroutine until [Engine.Close]; a panic of
// the network ends the program.
type Engine struct {
	inner *engine
	wake  chan struct{} // has room for one: something came in
	done  chan struct{}

	mu     sync.Mutex
	came   []func()
	closed bool
	totals Totals

	// begin is when it began, later by the time in which there was nothing to do.
	begin time.Time
}

// NewEngine starts an engine on a network; batch is the greatest number of rows of a
// call, 0 is 1.
func NewEngine(net Network, batch int) (*Engine, error) {
	inner, err := newEngine(net, batch)
	if err != nil {
		return nil, err
	}
	inner.shared = true
	e := &Engine{inner: inner, wake: make(chan struct{}, 1), done: make(chan struct{}), begin: time.Now()}
	go e.run()
	return e, nil
}

// Sample runs a job and yields what each call did to it; the last step has the result. It
// may be called by any goroutine and is used once. An error is the last thing that is
// yielded: of the job itself, of its context, or [ErrClosed].
//
// A job begins when the first step is asked for, and goes on whether or not its steps are
// read: nobody waits for a slow reader. Leaving the loop cancels it. A panic of its method
// is raised here, with the place where it was; other jobs do not notice.
func (e *Engine) Sample(ctx context.Context, job Job) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		// The engine may look at the job when the caller has long gone.
		job.Canvas = slices.Clone(job.Canvas)
		if t := job.Draw.Temperature; t != nil {
			job.Draw.Temperature = new(*t)
		}
		box := &mailbox{ready: make(chan struct{}, 1)}
		admit := func() {
			e.inner.admit(ctx, job, job.Index, box.step, func(_ Result, err error) {
				e.publish()
				box.end(err)
			})
		}
		if !e.submit(admit) {
			yield(Step{}, ErrClosed)
			return
		}
		for closed := false; ; {
			steps, ended, err := box.empty()
			for _, s := range steps {
				if !yield(s, nil) {
					return
				}
			}
			var p *panicked
			switch {
			case errors.As(err, &p):
				panic(err)
			case err != nil:
				yield(Step{}, err)
				return
			case ended:
				return
			case closed:
				yield(Step{}, ErrClosed)
				return
			}
			select {
			case <-box.ready:
			case <-ctx.Done():
				yield(Step{}, ctx.Err())
				return
			case <-e.done:
				closed = true // what it did before is read first
			}
		}
	}
}

// Totals are sums over all jobs, but for the call that is under way; those of a job that has
// ended are whole.
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
	nudge(e.wake)
	<-e.done
}

// submit hands work to the engine's goroutine, false where it is closed.
func (e *Engine) submit(work func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.came = append(e.came, work)
		nudge(e.wake)
	}
	return !e.closed
}

// nudge sends where there is room.
func nudge(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// publish makes the totals known.
func (e *Engine) publish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.totals = e.inner.totals
	e.totals.Sampling = time.Since(e.begin) - e.totals.Network
}

// run is the engine's goroutine. It never waits for a source while there is work.
func (e *Engine) run() {
	defer close(e.done)
	for {
		e.mu.Lock()
		came, closed := e.came, e.closed
		e.came = nil
		e.mu.Unlock()
		if closed {
			e.inner.freeAll()
			e.publish()
			return
		}
		for _, admit := range came {
			admit()
		}
		switch e.inner.drop(); {
		case len(e.inner.queue) > 0:
			e.inner.round()
			e.publish()
		case len(came) == 0:
			idle := time.Now()
			<-e.wake
			e.begin = e.begin.Add(time.Since(idle))
		}
	}
}

// drop ends the tasks whose context has ended.
func (e *engine) drop() {
	e.queue = slices.DeleteFunc(e.queue, func(t *task) bool {
		err := t.ctx.Err()
		if err != nil {
			e.end(t, err)
		}
		return err != nil
	})
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
	nudge(b.ready)
}

func (b *mailbox) end(err error) {
	b.mu.Lock()
	b.ended, b.err = true, err
	b.mu.Unlock()
	nudge(b.ready)
}

// empty takes what is there.
func (b *mailbox) empty() (steps []Step, ended bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	steps, b.steps = b.steps, nil
	return steps, b.ended, b.err
}

// caught makes an error of the panic of a method where it is not the caller's own goroutine
// that runs it.
func (e *engine) caught(err *error) {
	if !e.shared {
		return
	}
	if value := recover(); value != nil {
		*err = &panicked{value, debug.Stack()}
	}
}

// panicked is a panic of a method.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string {
	return fmt.Sprintf("the method panicked: %v\n\n%s", p.value, p.stack)
}
