package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"mdmgen/cmd/mdmgen/app"
)

const (
	// objectHeader is the header of a result that names the object with the part.
	objectHeader = "Mdmgen-Object"
	// objectTime is the maximum time to transfer an object.
	objectTime = 10 * time.Minute
)

// badResult is a result that is not its part.
type badResult struct {
	sequence uint64
	object   string
	error
}

// get writes the result of part i to a file. It returns a badResult if the server's result is not
// the part.
func (q *Queue) get(ctx context.Context, j *Job, i int, path string) error {
	results, err := q.js.Stream(ctx, j.results())
	if err != nil {
		return err
	}
	m, err := results.GetLastMsgForSubject(ctx, j.result(i))
	if err != nil {
		return err
	}
	name := m.Header.Get(objectHeader)
	err = q.object(ctx, j, func(ctx context.Context, o jetstream.ObjectStore) error {
		return o.GetFile(ctx, name, path)
	})
	for _, bad := range []error{jetstream.ErrObjectNotFound, jetstream.ErrDigestMismatch, jetstream.ErrBadObjectMeta, jetstream.ErrNameRequired} {
		if errors.Is(err, bad) {
			return badResult{m.Sequence, name, err}
		}
	}
	if err != nil {
		return err
	}
	if err := app.CheckPart(path, j.Header, i, j.Shards); err != nil {
		return badResult{m.Sequence, name, err}
	}
	return nil
}

// object calls f with the store of a job's large parts.
func (q *Queue) object(ctx context.Context, j *Job, f func(context.Context, jetstream.ObjectStore) error) error {
	ctx, cancel := context.WithTimeout(ctx, objectTime)
	defer cancel()
	objects, err := q.js.ObjectStore(ctx, j.parts())
	if err != nil {
		return err
	}
	return f(ctx, objects)
}

// objectOf returns the prefix of the names of objects with part i.
func objectOf(i int) string { return fmt.Sprintf("%d-", i) }

// discard removes a bad result with its object, and logs it.
func (q *Queue) discard(ctx context.Context, j *Job, i int, bad badResult) error {
	results, err := q.js.Stream(ctx, j.results())
	if err != nil {
		return err
	}
	if err := results.DeleteMsg(ctx, bad.sequence); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		return err
	}
	if strings.HasPrefix(bad.object, objectOf(i)) { // The object may belong to a good result otherwise.
		err := q.object(ctx, j, func(ctx context.Context, o jetstream.ObjectStore) error { return o.Delete(ctx, bad.object) })
		if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
			return err
		}
	}
	q.log("part %d/%d: its result is not of this part, so it is run again: %v", i, j.Shards, bad.error)
	return nil
}

// check checks the results on the server, and returns the parts without a good one. It removes bad
// results and queues their parts; queued is their number. If dir is not "", it stores the results
// there, see [file].
func (q *Queue) check(ctx context.Context, j *Job, dir string) (missing []int, queued int, err error) {
	last := ""
	if dir == "" {
		if dir, err = os.MkdirTemp("", "mdmgen-check-"); err != nil {
			return nil, 0, err
		}
		defer os.RemoveAll(dir)
		last = file(dir, 0)
	}
	results, err := q.js.Stream(ctx, j.results())
	if err != nil {
		return nil, 0, err
	}
	info, err := results.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return nil, 0, err
	}
	for i := 1; i <= j.Shards; i++ {
		var err error = jetstream.ErrMsgNotFound
		if info.State.Subjects[j.result(i)] > 0 {
			err = q.get(ctx, j, i, cmp.Or(last, file(dir, i)))
		}
		var bad badResult
		switch {
		case err == nil:
			continue
		case errors.As(err, &bad):
			if err := q.discard(ctx, j, i, bad); err != nil {
				return nil, queued, err
			}
			if err := q.queue(ctx, j, i); err == nil {
				queued++
			} else if !full(err) { // It may still be in the queue.
				return nil, queued, err
			}
		case !errors.Is(err, jetstream.ErrMsgNotFound):
			return nil, queued, fmt.Errorf("part %d: %w", i, err)
		}
		missing = append(missing, i)
	}
	return missing, queued, nil
}

// file returns the path to which check writes the result of part i.
func file(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", i)) }

// put stores the part in a file as the result of task i. The server rejects a second result: full
// then reports true of the error.
func (q *Queue) put(ctx context.Context, j *Job, i int, path string) error {
	m := nats.NewMsg(j.result(i))
	name := objectOf(i) + nats.NewInbox() // unique
	m.Header.Set(objectHeader, name)
	return q.object(ctx, j, func(ctx context.Context, objects jetstream.ObjectStore) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := objects.Put(ctx, jetstream.ObjectMeta{Name: name}, f); err != nil {
			return err
		}
		if _, err = q.js.PublishMsg(ctx, m, first); full(err) {
			_ = objects.Delete(ctx, name) // Nothing refers to it.
		}
		return err
	})
}

// Fetch merges the results of a job, which must be complete, and writes what a single process would
// have written: to the file output, or to out if output is "".
func (q *Queue) Fetch(ctx context.Context, j *Job, output string, out *app.StandardOutput) error {
	dir, err := os.MkdirTemp("", "mdmgen-fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	missing, _, err := q.check(ctx, j, dir)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("job %s: %d of %d parts have a result: run the others with mdmgen-queue work", j.ID, j.Shards-len(missing), j.Shards)
	}
	var parts []string
	for i := 1; i <= j.Shards; i++ {
		parts = append(parts, file(dir, i))
	}
	return app.Merge(ctx, output, parts, out)
}
