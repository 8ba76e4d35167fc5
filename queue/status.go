package queue

import (
	"context"
	"fmt"
	"io"

	"mdmgen/cmd/mdmgen/app"
)

// State is how far a job is.
type State struct {
	Job *Job
	// Done counts parts with a result, Running those that are given out, Waiting those that are
	// not, and Dead those that were given out too often and have no result.
	Done, Running, Waiting, Dead int
}

// Status checks the results of a job, and returns how far it is. Parts with a bad result are queued
// again.
func (q *Queue) Status(ctx context.Context, j *Job) (*State, error) {
	// Asked for first: what ends meanwhile counts as done, not as dead.
	running, waiting, err := q.left(ctx, j)
	if err != nil {
		return nil, err
	}
	missing, queued, err := q.check(ctx, j, "")
	if err != nil {
		return nil, err
	}
	waiting = min(waiting+queued, len(missing))
	return &State{Job: j, Done: j.Shards - len(missing), Running: running, Waiting: waiting, Dead: max(0, len(missing)-running-waiting)}, nil
}

// left counts the tasks that are given out, and those that wait. Where there are none the job has
// ended: what has no result is dead.
func (q *Queue) left(ctx context.Context, j *Job) (running, waiting int, err error) {
	consumer, err := q.js.Consumer(ctx, j.tasks(), "workers")
	if err != nil {
		return 0, 0, err
	}
	given := consumer.CachedInfo()
	return given.NumAckPending, int(given.NumPending), nil
}

// Print writes a state for people.
func (s *State) Print(w io.Writer) {
	fmt.Fprintf(w, "job      %s: %s\n", s.Job.ID, app.CommandLine(s.Job.Args))
	fmt.Fprintf(w, "parts    %d of %d done, %d running, %d waiting, %d dead\n", s.Done, s.Job.Shards, s.Running, s.Waiting, s.Dead)
	if s.Dead > 0 {
		fmt.Fprintln(w, "dead     parts were given out too often: submit the run again when none is running")
	}
}
