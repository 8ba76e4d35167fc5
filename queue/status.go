package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"mdmgen/cmd/mdmgen/app"
)

// State is how far a job is.
type State struct {
	Job *Job
	// Done counts parts with a result; Chunks their chunks.
	Done, Chunks int
	// Running are given out, Waiting are not.
	Running, Waiting int
	// Dead are the parts that were given out too often and have no result.
	Dead []Dead

	done map[int]bool
}

// Dead is a dead letter.
type Dead struct {
	Task       int
	Deliveries int
	sequence   uint64
}

// ended reports whether nothing of a job is left to do. It is cheap as long as nothing is dead: many
// workers ask.
func (q *Queue) ended(ctx context.Context, j *Job) (bool, error) {
	results, err := q.js.Stream(ctx, j.results())
	if err != nil || int(results.CachedInfo().State.Msgs) >= j.Shards {
		return err == nil, err
	}
	dead, err := q.js.Stream(ctx, j.dead())
	if err != nil || dead.CachedInfo().State.Msgs == 0 {
		return false, err
	}
	s, err := q.Status(ctx, j)
	return err == nil && s.Done+len(s.Dead) >= j.Shards, err
}

// Status returns how far a job is.
func (q *Queue) Status(ctx context.Context, j *Job) (*State, error) {
	s := &State{Job: j, done: make(map[int]bool)}
	results, err := q.js.Stream(ctx, j.results())
	if err != nil {
		return nil, err
	}
	info, err := results.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return nil, err
	}
	for subject := range info.State.Subjects {
		s.done[number(subject)] = true
	}
	for task := range s.done {
		s.Done++
		s.Chunks += j.chunks(task)
	}
	if err := q.deadOf(ctx, s); err != nil {
		return nil, err
	}
	consumer, err := q.js.Consumer(ctx, j.tasks(), "workers")
	if err != nil {
		return nil, err
	}
	given, err := consumer.Info(ctx)
	if err != nil {
		return nil, err
	}
	s.Waiting = int(given.NumPending)
	s.Running = max(0, j.Shards-s.Done-s.Waiting-len(s.Dead))
	return s, nil
}

// deadOf reads the server's notices of tasks that it gives out no more.
func (q *Queue) deadOf(ctx context.Context, s *State) error {
	stream, err := q.js.Stream(ctx, s.Job.dead())
	if err != nil {
		return err
	}
	tasks, err := q.js.Stream(ctx, s.Job.tasks())
	if err != nil {
		return err
	}
	for i := stream.CachedInfo().State.FirstSeq; i > 0 && i <= stream.CachedInfo().State.LastSeq; i++ {
		m, err := stream.GetMsg(ctx, i)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		var notice struct {
			Sequence   uint64 `json:"stream_seq"`
			Deliveries int    `json:"deliveries"`
		}
		if err := json.Unmarshal(m.Data, &notice); err != nil {
			return err
		}
		letter, err := tasks.GetMsg(ctx, notice.Sequence)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue // It was submitted again, or finished late.
		}
		if err != nil {
			return err
		}
		task := number(letter.Subject)
		if !s.done[task] && !slices.ContainsFunc(s.Dead, func(d Dead) bool { return d.Task == task }) {
			s.Dead = append(s.Dead, Dead{task, notice.Deliveries, notice.Sequence})
		}
	}
	return nil
}

// Print writes a state for people.
func (s *State) Print(w io.Writer) {
	fmt.Fprintf(w, "job      %s: %s\n", s.Job.ID, app.CommandLine(s.Job.Args))
	fmt.Fprintf(w, "parts    %d of %d done, %d running, %d waiting, %d dead\n", s.Done, s.Job.Shards, s.Running, s.Waiting, len(s.Dead))
	fmt.Fprintf(w, "chunks   %d of %d\n", s.Chunks, s.Job.Chunks)
	for _, d := range s.Dead {
		fmt.Fprintf(w, "dead     part %d, given out %d times: submit the run again to queue it again\n", d.Task, d.Deliveries)
	}
}
