package queue

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// result is the message that a finished part is: the part itself, or where it is.
type result struct {
	Worker string `json:"worker"`
	// Part is the file, nil where it is the object of that name.
	Part   []byte `json:"part,omitempty"`
	Object string `json:"object,omitempty"`
	// SHA256 is the file's, in hexadecimal.
	SHA256 string `json:"sha256"`
}

// report is what a worker does.
type report struct {
	Job    string  `json:"job"`
	Task   int     `json:"task"` // 0 where it waits
	Tasks  int     `json:"tasks"`
	Chunks int     `json:"chunks"`
	Busy   float64 `json:"busy_seconds"`
}

// Worker does tasks of a job. Name must be its own.
type Worker struct {
	Queue *Queue
	Job   *Job
	Name  string
	// Tell is told what happens, a line each.
	Tell func(format string, args ...any)

	report report
}

// Work does tasks until all of the job have a result, or are dead letters. Whoever did not make
// the job on this machine asks [Job.Check] before, once for all workers of a process.
func (w *Worker) Work(ctx context.Context) error {
	consumer, err := w.Queue.js.Consumer(ctx, w.Job.tasks(), "workers")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mdmgen-worker-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w.report.Job = w.Job.ID
	beat := consumer.CachedInfo().Config.AckWait / 6
	for {
		w.tell(ctx)
		// Only as much as is worked on is taken: what waits is there for others.
		msg, err := consumer.Next(jetstream.FetchMaxWait(idle))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			if err := w.do(ctx, msg, beat, dir); err != nil {
				return err
			}
		case errors.Is(err, jetstream.ErrConsumerDeleted), errors.Is(err, jetstream.ErrConsumerNotFound):
			return fmt.Errorf("job %s was removed", w.Job.ID)
		default: // There is nothing to do now, or the server cannot be reached.
			var state *State
			serr := retried(ctx, func() (err error) { state, err = w.Queue.Status(ctx, w.Job); return err })
			if serr != nil {
				return serr
			}
			if state.Ended() {
				return nil
			}
		}
	}
}

// idle is how long a worker without a task waits before it asks whether the job has ended.
const idle = 500 * time.Millisecond

// do does a task: it is acknowledged when the server has its result. Until then the server is told
// at each beat that the worker is alive.
func (w *Worker) do(ctx context.Context, msg jetstream.Msg, beat time.Duration, dir string) error {
	task := number(msg.Subject())
	w.report.Task = task
	w.tell(ctx)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				_ = msg.InProgress() // One that does not come is followed by others.
				w.tell(ctx)
			}
		}
	}()
	begin := time.Now()
	known, err := w.Queue.has(ctx, w.Job, task)
	if err == nil && !known {
		path := filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", task))
		if err = part(ctx, w.Job.Args, task, w.Job.Shards, path); err == nil {
			err = retried(ctx, func() error { return w.Queue.store(ctx, w.Job, task, w.Name, path) })
			os.Remove(path)
		}
	}
	close(stop)
	<-ended // which reads the report
	w.report.Task = 0
	if ctx.Err() != nil {
		_ = msg.Nak() // Somebody else may do it at once.
		return ctx.Err()
	}
	if err != nil {
		w.Tell("part %d/%d: %v", task, w.Job.Shards, err)
		_ = msg.NakWithDelay(time.Second) // It comes again, here or elsewhere, or is a dead letter.
		return nil
	}
	w.report.Tasks++
	w.report.Chunks += w.Job.chunks(task)
	w.report.Busy += time.Since(begin).Seconds()
	// One that is not acknowledged comes again, and its result is found to be there.
	_ = retried(ctx, func() error {
		limit, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return msg.DoubleAck(limit)
	})
	w.Tell("part %d/%d in %.1f s", task, w.Job.Shards, time.Since(begin).Seconds())
	return nil
}

// tell says what the worker does, for those who look.
func (w *Worker) tell(ctx context.Context) {
	data, err := json.Marshal(w.report)
	if err != nil {
		return
	}
	if kv, err := w.Queue.js.KeyValue(ctx, workersBucket); err == nil {
		_, _ = kv.Put(ctx, w.Name, data)
	}
}

// has says that a task has its result.
func (q *Queue) has(ctx context.Context, j *Job, task int) (bool, error) {
	results, err := q.js.Stream(ctx, j.results())
	if err != nil {
		return false, err
	}
	_, err = results.GetLastMsgForSubject(ctx, j.result(task))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	return err == nil, err
}

// store keeps a part. The server refuses a second one, which is as good.
func (q *Queue) store(ctx context.Context, j *Job, task int, worker, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	r := result{Worker: worker, SHA256: fmt.Sprintf("%x", sha256.Sum256(data))}
	if len(data) <= inline {
		r.Part = data
	} else {
		objects, err := q.js.ObjectStore(ctx, j.parts())
		if err != nil {
			return err
		}
		r.Object = fmt.Sprintf("%d-%s-%.16s", task, worker, r.SHA256)
		if _, err := objects.Put(ctx, jetstream.ObjectMeta{Name: r.Object}, bytes.NewReader(data)); err != nil {
			return err
		}
	}
	message, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := q.js.Publish(ctx, j.result(task), message); err != nil && !full(err) {
		return err
	} else if err != nil && r.Object != "" {
		if objects, oerr := q.js.ObjectStore(ctx, j.parts()); oerr == nil {
			_ = objects.Delete(ctx, r.Object) // Nobody would ask for it.
		}
	}
	return nil
}
