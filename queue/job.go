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

// maxShards bounds the number of tasks: the server keeps a subject for each.
const maxShards = 1_000_000

// Job is a run with the number of its parts.
type Job struct {
	// ID is made of all else: a run that is submitted twice is one.
	ID string `json:"id"`
	// Args is the command line of mdmgen without the program's name.
	Args []string `json:"args"`
	// Shards is the number of tasks.
	Shards int `json:"shards"`
	// Chunks is the number of chunks in all of them.
	Chunks int `json:"chunks"`
	// Header is the run as parts have it.
	Header json.RawMessage `json:"header"`
}

// NewJob is the job of a command line, whose run has a header on this machine. shards is the
// number of tasks, 0 for one a chunk but no more than 1000.
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
	// What the run is, and not when and where its header was made.
	delete(all, journal.Aside)
	key, err := json.Marshal([]any{all, j.Shards})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(key)
	j.ID = fmt.Sprintf("%x", sum[:6])
	return j, nil
}

// parse reads the job that a server has under an ID, which must be what [NewJob] makes of its fields.
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
		err = errors.New("its fields do not belong together")
	default:
		return &j, nil
	}
	return nil, fmt.Errorf("job %s: the server's job has another form: %w: mdmgen-queue remove --job %[1]s removes it", id, err)
}

// Check refuses a job whose run has another header here, and names what is unlike.
func (j *Job) Check(here json.RawMessage) error {
	if unlike := journal.Differ(j.Header, here); len(unlike) > 0 {
		return exit.Usagef("job %s: this machine would make other bits: its %s are unlike", j.ID, strings.Join(unlike, ", "))
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
