package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"mdmgen/cmd/mdmgen/app"
)

// Work opens the run of a command line n times, each with its own model, and runs tasks of the job
// until each has a result or is a dead letter. job returns the job for the header of the run on
// this machine, or an error, as [Job.Check] does. It may be called concurrently.
func (q *Queue) Work(ctx context.Context, n int, args []string, job func(header json.RawMessage) (*Job, error)) error {
	// The first worker that finds no task left wakes those that wait.
	waiting, end := context.WithCancel(ctx)
	defer end()
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range errs {
		w := worker{q: q, waiting: waiting, end: end}
		all.Go(func() {
			for again := true; again; again = errors.As(errs[i], new(failure)) {
				errs[i] = app.Parts(ctx, args, func(header json.RawMessage, part func(i, n int, path string) error) (err error) {
					if w.job, err = job(header); err != nil {
						return err
					}
					w.part = part
					return w.work(ctx)
				})
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

// failure is the error of a task. Its worker reopens the run, to start from a clean state.
type failure struct{ error }

// worker holds an open run.
type worker struct {
	q       *Queue
	waiting context.Context
	end     func()
	job     *Job
	part    func(i, n int, path string) error
}

// idle is how long a worker waits for a task before it checks whether the job has ended.
const idle = 5 * time.Second

// work runs tasks until none is left.
func (w *worker) work(ctx context.Context) error {
	consumer, err := w.q.js.Consumer(ctx, w.job.tasks(), "workers")
	if err != nil {
		return w.removed(ctx, err)
	}
	dir, err := os.MkdirTemp("", "mdmgen-worker-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for {
		var left int
		if err := retried(ctx, func() error {
			running, waiting, err := w.q.left(ctx, w.job)
			left = running + waiting
			return err
		}); err != nil {
			return w.removed(ctx, err)
		}
		if left == 0 {
			w.end()
			return nil
		}
		// Take only the task that is worked on, and leave the others for other workers.
		limit, cancel := context.WithTimeout(w.waiting, idle)
		msg, err := consumer.Next(jetstream.FetchContext(limit))
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			if err := w.do(ctx, msg, consumer.CachedInfo().Config.AckWait/6, dir); err != nil {
				return w.removed(ctx, err)
			}
		}
		// Otherwise there is no task now, or the server cannot be reached.
	}
}

// removed replaces an error if the job is no longer on the server.
func (w *worker) removed(ctx context.Context, err error) error {
	if _, none := w.q.js.Stream(ctx, w.job.results()); errors.Is(none, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("job %s was removed", w.job.ID)
	}
	return err
}

// do runs a task, and acknowledges it once the server has its result. Until then it reports at
// every beat that the worker is alive.
func (w *worker) do(ctx context.Context, msg jetstream.Msg, beat time.Duration, dir string) error {
	task, begin := number(msg.Subject()), time.Now()
	stop := make(chan struct{})
	go func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				_ = msg.InProgress() // Others follow if one fails.
			}
		}
	}()
	err := w.result(ctx, task, filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", task)))
	close(stop)
	if ctx.Err() != nil {
		_ = msg.Nak() // Another worker may do it immediately.
		return ctx.Err()
	}
	if err != nil {
		w.q.log("part %d/%d: %v", task, w.job.Shards, err)
		_ = msg.NakWithDelay(time.Second) // It is delivered again, here or elsewhere, or becomes a dead letter.
		return failure{err}
	}
	// A task that is not acknowledged is delivered again, and its result is found.
	limit, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = msg.DoubleAck(limit)
	w.q.log("part %d/%d in %.1f s", task, w.job.Shards, time.Since(begin).Seconds())
	return nil
}

// result stores the result of a task on the server, and computes it unless the server has it. path
// is a temporary file for the part.
func (w *worker) result(ctx context.Context, task int, path string) error {
	defer os.Remove(path)
	theirs := path + ".kept"
	defer os.Remove(theirs)
	for computed := false; ; computed = true {
		var bad badResult
		switch err := w.q.get(ctx, w.job, task, theirs); {
		case errors.As(err, &bad):
			if err := w.q.discard(ctx, w.job, task, bad); err != nil {
				return err
			}
		case !errors.Is(err, jetstream.ErrMsgNotFound):
			return err
		}
		if !computed {
			if err := w.part(task, w.job.Shards, path); err != nil {
				return err
			}
			if err := app.CheckPart(path, w.job.Header, task, w.job.Shards); err != nil {
				return err
			}
		}
		if err := retried(ctx, func() error {
			err := w.q.put(ctx, w.job, task, path)
			if err != nil {
				err = w.removed(ctx, err) // A removed stream looks like an unreachable server.
			}
			return err
		}); !full(err) { // If it is full, another worker was faster.
			return err
		}
	}
}
