package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// bucket holds jobs by their IDs.
	bucket = "mdmgen-jobs"
	// maxMessage is the maximum size of a message in bytes.
	maxMessage = 1 << 20
)

// Limits determines when a task is given up.
type Limits struct {
	// Deliveries is the maximum number of deliveries; AckWait is the time after which a silent
	// worker loses its task, 0 for the server's 30 seconds.
	Deliveries int
	AckWait    time.Duration
}

// Submit queues the tasks of a job that have no result or a bad one. It includes dead letters if no
// task is waiting or running. It returns the number of tasks queued.
func (q *Queue) Submit(ctx context.Context, j *Job, l Limits) (queued int, err error) {
	if err := q.prepare(ctx, j, l); err != nil {
		return 0, err
	}
	running, waiting, err := q.left(ctx, j)
	if err != nil {
		return 0, err
	}
	if running+waiting == 0 { // The remaining tasks of a job that has ended are dead.
		tasks, err := q.js.Stream(ctx, j.tasks())
		if err == nil {
			err = tasks.Purge(ctx)
		}
		if err != nil {
			return 0, err
		}
	}
	missing, queued, err := q.check(ctx, j, "")
	if err != nil {
		return queued, err
	}
	for _, i := range missing {
		switch err := q.queue(ctx, j, i); {
		case err == nil:
			queued++
		case !full(err): // It is in the queue already.
			return queued, err
		}
	}
	// Workers find the job once all of its tasks are queued.
	jobs, err := q.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket})
	if err != nil {
		return queued, err
	}
	data, err := json.Marshal(j)
	if err == nil {
		_, err = jobs.Put(ctx, j.ID, data)
	}
	return queued, err
}

// queue puts task i into the queue.
func (q *Queue) queue(ctx context.Context, j *Job, i int) error {
	return retried(ctx, func() error {
		_, err := q.js.Publish(ctx, j.task(i), nil, first)
		return err
	})
}

// prepare creates the streams and stores of a job, unless they exist.
func (q *Queue) prepare(ctx context.Context, j *Job, l Limits) error {
	once := jetstream.StreamConfig{
		Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew, MaxMsgsPerSubject: 1, DiscardNewPerSubject: true,
	}
	tasks, results := once, once
	tasks.Name, tasks.Subjects, tasks.Retention = j.tasks(), []string{j.task(0)[:len(j.task(0))-1] + "*"}, jetstream.WorkQueuePolicy
	results.Name, results.Subjects = j.results(), []string{j.result(0)[:len(j.result(0))-1] + "*"}
	for _, c := range []jetstream.StreamConfig{tasks, results} {
		if _, err := q.js.CreateOrUpdateStream(ctx, c); err != nil {
			return fmt.Errorf("the stream %s: %w", c.Name, err)
		}
	}
	if _, err := q.js.CreateOrUpdateConsumer(ctx, j.tasks(), jetstream.ConsumerConfig{
		Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, AckWait: l.AckWait, MaxDeliver: max(l.Deliveries, 1), MaxAckPending: -1,
	}); err != nil {
		return err
	}
	_, err := q.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: j.parts()})
	return err
}

// first makes the server reject a message if its subject has one.
var first = jetstream.WithExpectLastSequencePerSubject(0)

// full reports whether an error is that the subject already has a message.
func full(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// Remove removes everything that the server has of the job with an ID, or of its only job if id is
// "". The job need not be valid.
func (q *Queue) Remove(ctx context.Context, id string) error {
	jobs, e, err := q.find(ctx, id)
	if err != nil {
		return err
	}
	j := &Job{ID: e.Key()}
	for _, err := range []error{ // Workers recognise a removed job by its missing results.
		q.js.DeleteStream(ctx, j.results()), q.js.DeleteStream(ctx, j.tasks()), q.js.DeleteObjectStore(ctx, j.parts()),
	} {
		if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) && !errors.Is(err, jetstream.ErrInvalidStreamName) && !errors.Is(err, jetstream.ErrInvalidStoreName) {
			return err
		}
	}
	return jobs.Purge(ctx, j.ID)
}

// Job returns the job with an ID, or the only job if id is "".
func (q *Queue) Job(ctx context.Context, id string) (*Job, error) {
	_, e, err := q.find(ctx, id)
	if err != nil {
		return nil, err
	}
	return parse(e.Key(), e.Value())
}

// find returns the server's entry of a job, and its store of jobs.
func (q *Queue) find(ctx context.Context, id string) (jetstream.KeyValue, jetstream.KeyValueEntry, error) {
	none := errors.New("nothing was submitted to this server")
	jobs, err := q.js.KeyValue(ctx, bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, nil, none
	}
	if err != nil {
		return nil, nil, err
	}
	if id == "" {
		keys, err := jobs.Keys(ctx)
		if errors.Is(err, jetstream.ErrNoKeysFound) {
			return nil, nil, none
		}
		if err != nil {
			return nil, nil, err
		}
		if len(keys) != 1 {
			return nil, nil, fmt.Errorf("there are %d jobs: name one with --job: %v", len(keys), keys)
		}
		id = keys[0]
	}
	e, err := jobs.Get(ctx, id)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return nil, nil, fmt.Errorf("no job %s", id)
	}
	return jobs, e, err
}
