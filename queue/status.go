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

// Ended reports whether nothing of a job is left to do.
func (s *State) Ended() bool { return s.Done+s.Dead >= s.Job.Shards }

// Status returns how far a job is.
func (q *Queue) Status(ctx context.Context, j *Job) (*State, error) {
	results, err := q.js.Stream(ctx, j.results())
	if err != nil {
		return nil, err
	}
	tasks, err := q.js.Stream(ctx, j.tasks())
	if err != nil {
		return nil, err
	}
	consumer, err := tasks.Consumer(ctx, "workers")
	if err != nil {
		return nil, err
	}
	given := consumer.CachedInfo()
	s := &State{Job: j, Done: int(results.CachedInfo().State.Msgs), Running: given.NumAckPending, Waiting: int(given.NumPending)}
	// A task that the server gives out no more stays in its stream.
	s.Dead = max(0, int(tasks.CachedInfo().State.Msgs)-s.Running-s.Waiting)
	return s, nil
}

// Print writes a state for people.
func (s *State) Print(w io.Writer) {
	fmt.Fprintf(w, "job      %s: %s\n", s.Job.ID, app.CommandLine(s.Job.Args))
	fmt.Fprintf(w, "parts    %d of %d done, %d running, %d waiting, %d dead\n", s.Done, s.Job.Shards, s.Running, s.Waiting, s.Dead)
	if s.Dead > 0 {
		fmt.Fprintln(w, "dead     parts were given out too often: submit the run again when none is running")
	}
}
