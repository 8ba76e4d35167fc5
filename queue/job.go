package queue

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"mdmgen/internal/exit"
	"mdmgen/internal/journal"
)

// maxShards is the maximum number of tasks: the server keeps a subject for each.
const maxShards = 1_000_000

// Job is a run with the number of its parts.
type Job struct {
	// ID is a hash of the run: submitting a run twice gives one job.
	ID string `json:"id"`
	// Args is the command line of mdmgen without the program's name.
	Args []string `json:"args"`
	// Shards is the number of tasks.
	Shards int `json:"shards"`
	// Chunks is the number of chunks of the run.
	Chunks int `json:"chunks"`
	// Header is the header of the run's parts.
	Header json.RawMessage `json:"header"`
}

// NewJob returns the job of a command line, whose run has the given header on this machine. shards
// is the number of tasks, 0 for one per chunk but at most 1000.
func NewJob(args []string, header json.RawMessage, shards int) (*Job, error) {
	var run struct{ Chunks int }
	var all map[string]json.RawMessage
	if err := json.Unmarshal(header, &run); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(header, &all); err != nil {
		return nil, err
	}
	if shards < 0 || shards > maxShards {
		return nil, exit.Usagef("%d parts: must be in 1..%d", shards, maxShards)
	}
	if shards == 0 {
		shards = min(run.Chunks, 1000)
	}
	j := &Job{Args: args, Shards: max(1, min(shards, run.Chunks)), Chunks: run.Chunks, Header: header}
	// The ID identifies the run, not when and where its header was made.
	delete(all, journal.Aside)
	key, err := json.Marshal([]any{all, j.Shards})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(key)
	j.ID = fmt.Sprintf("%x", sum[:6])
	return j, nil
}

// parse decodes the job that a server has under an ID. It checks that [NewJob] makes this ID from
// its fields.
func parse(id string, data []byte) (*Job, error) {
	var j Job
	err := json.Unmarshal(data, &j)
	var made *Job
	if err == nil {
		made, err = NewJob(j.Args, j.Header, j.Shards)
	}
	switch {
	case err != nil:
	case len(j.Args) == 0 || j.ID != id || made.ID != id || made.Shards != j.Shards || made.Chunks != j.Chunks:
		err = errors.New("its fields are inconsistent")
	default:
		return &j, nil
	}
	return nil, fmt.Errorf("job %s: the job on the server is malformed: %w: remove it with mdmgen-queue remove --job %[1]s", id, err)
}

// Check returns an error, which names the differences, if the run has another header here.
func (j *Job) Check(here json.RawMessage) error {
	if unlike := journal.Differ(j.Header, here); len(unlike) > 0 {
		return exit.Usagef("job %s: this machine would compute different bits: its %s differ", j.ID, strings.Join(unlike, ", "))
	}
	return nil
}

// The names of a job's streams, subjects and stores.
func (j *Job) tasks() string       { return "mdmgen-tasks-" + j.ID }
func (j *Job) results() string     { return "mdmgen-results-" + j.ID }
func (j *Job) parts() string       { return "mdmgen-parts-" + j.ID }
func (j *Job) task(i int) string   { return fmt.Sprintf("mdmgen.%s.task.%d", j.ID, i) }
func (j *Job) result(i int) string { return fmt.Sprintf("mdmgen.%s.result.%d", j.ID, i) }
func number(subject string) int {
	n, _ := strconv.Atoi(subject[strings.LastIndexByte(subject, '.')+1:])
	return n
}
