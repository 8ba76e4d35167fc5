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

// ErrClosed is the error of jobs that the engine had not finished when it was closed.
var ErrClosed = fault.Errorf("samplers", "the engine is closed")

// Engine fills canvases for many concurrent callers. A network call holds rows of any jobs whose
// canvases have one length; jobs join and leave at any call. Only the engine's own goroutine uses
// the network until [Engine.Close]. A panic of the network ends the program.
type Engine struct {
	inner   *engine
	pending *mailbox[func()]
	done    chan struct{}

	mu     sync.Mutex
	totals Totals

	// begin is the start time, moved later by the time without work.
	begin time.Time
}

// NewEngine starts an engine on a network. batch is the greatest number of rows of a call; 0 is 1.
func NewEngine(net Network, batch int) (*Engine, error) {
	inner, err := newEngine(net, batch)
	if err != nil {
		return nil, err
	}
	inner.shared = true
	e := &Engine{inner: inner, pending: newMailbox[func()](), done: make(chan struct{}), begin: time.Now()}
	go e.run()
	return e, nil
}

// Share lets jobs share rows in a store. It is called before the first job.
func (e *Engine) Share(s *Store) { e.inner.attach(s) }

// Sample runs a job and yields what each call did to it; the last step has the result. It may be
// called by any goroutine, and the returned sequence is used once. An error is yielded last: that
// of the job itself or of its context, or [ErrClosed].
//
// The job begins when the first step is requested, and continues whether or not its steps are read:
// nothing waits for a slow reader. Leaving the loop cancels it. A panic of its method is raised
// here, with its stack; other jobs are not affected.
func (e *Engine) Sample(ctx context.Context, job Job) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		// The engine may use the job after the caller has left.
		job.Canvas = slices.Clone(job.Canvas)
		if t := job.Draw.Temperature; t != nil {
			job.Draw.Temperature = new(*t)
		}
		box := newMailbox[event]()
		admit := func() {
			e.inner.admit(ctx, job, job.Index, func(s Step) { box.put(event{step: s.clone()}) }, func(_ Result, err error) {
				e.publish()
				box.put(event{err: err, ended: true})
			})
		}
		if !e.pending.put(admit) {
			yield(Step{}, ErrClosed)
			return
		}
		for closed := false; ; {
			events, _ := box.take()
			for _, x := range events {
				var p *panicked
				switch {
				case errors.As(x.err, &p):
					panic(x.err)
				case x.err != nil:
					yield(Step{}, x.err)
					return
				case x.ended || !yield(x.step, nil):
					return
				}
			}
			if closed {
				yield(Step{}, ErrClosed)
				return
			}
			select {
			case <-box.ready:
			case <-ctx.Done():
				yield(Step{}, ctx.Err())
				return
			case <-e.done:
				closed = true // what it did before closing is read first
			}
		}
	}
}

// Totals returns the sums over all jobs, excluding the current call. A job that has ended is
// counted completely.
func (e *Engine) Totals() Totals {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.totals
}

// Close ends the engine. The current call is the last, and unfinished jobs end with [ErrClosed].
// Close returns when the network is no longer in use. It may be called twice.
func (e *Engine) Close() {
	e.pending.close()
	<-e.done
}

// publish updates the public totals.
func (e *Engine) publish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.totals = e.inner.totals
	e.totals.Sampling = time.Since(e.begin) - e.totals.Network
}

// run is the engine's goroutine. It never waits for new jobs while there is work.
func (e *Engine) run() {
	defer close(e.done)
	for {
		pending, closed := e.pending.take()
		if closed {
			e.inner.freeAll()
			e.publish()
			return
		}
		for _, admit := range pending {
			admit()
		}
		switch e.inner.drop(); {
		case len(e.inner.queue) > 0:
			e.inner.round()
			e.publish()
		case len(pending) == 0:
			idle := time.Now()
			<-e.pending.ready
			e.begin = e.begin.Add(time.Since(idle))
		}
	}
}

// drop ends the tasks whose contexts have ended.
func (e *engine) drop() {
	e.queue = slices.DeleteFunc(e.queue, func(t *task) bool {
		err := t.ctx.Err()
		if err != nil {
			e.end(t, err)
		}
		return err != nil
	})
}

// event is a step of a job, or its end.
type event struct {
	step  Step
	ended bool
	err   error
}

// mailbox passes items from one goroutine to another, which never waits for it. ready has room for one: there
// is something to take.
type mailbox[T any] struct {
	mu     sync.Mutex
	items  []T
	closed bool
	ready  chan struct{}
}

func newMailbox[T any]() *mailbox[T] { return &mailbox[T]{ready: make(chan struct{}, 1)} }

// put adds an item. It returns false if the mailbox is closed.
func (b *mailbox[T]) put(x T) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.items = append(b.items, x)
		b.nudge()
	}
	return !b.closed
}

// nudge fills ready unless it is full.
func (b *mailbox[T]) nudge() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// take returns and removes the items.
func (b *mailbox[T]) take() (items []T, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items, b.items = b.items, nil
	return items, b.closed
}

func (b *mailbox[T]) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.nudge()
}

// caught turns a method's panic into an error on a shared engine, whose goroutine is not the caller's.
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
