package queue

import (
	"context"
	"fmt"
	"io"

	"mdmgen/cmd/mdmgen/app"
)

// State is the progress of a job.
type State struct {
	Job *Job
	// Done is the number of parts with a result, Running of those delivered to workers, Waiting of
	// those not delivered, and Dead of those delivered too often without a result.
	Done, Running, Waiting, Dead int
}

// Status checks the results of a job, and returns its progress. It queues parts with a bad result
// again.
func (q *Queue) Status(ctx context.Context, j *Job) (*State, error) {
	// Query this first, so that a part that ends meanwhile counts as done, not as dead.
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

// left returns the numbers of tasks delivered and waiting. If both are 0 the job has ended: tasks
// without a result are dead.
func (q *Queue) left(ctx context.Context, j *Job) (running, waiting int, err error) {
	consumer, err := q.js.Consumer(ctx, j.tasks(), "workers")
	if err != nil {
		return 0, 0, err
	}
	given := consumer.CachedInfo()
	return given.NumAckPending, int(given.NumPending), nil
}

// Print writes the state as text.
func (s *State) Print(w io.Writer) {
	fmt.Fprintf(w, "job      %s: %s\n", s.Job.ID, app.CommandLine(s.Job.Args))
	fmt.Fprintf(w, "parts    %d of %d done, %d running, %d waiting, %d dead\n", s.Done, s.Job.Shards, s.Running, s.Waiting, s.Dead)
	if s.Dead > 0 {
		fmt.Fprintln(w, "dead     parts were tried too often: submit the run again when none is running")
	}
}
