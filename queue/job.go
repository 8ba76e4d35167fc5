package queue

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mdmgen/internal/cli"
	"mdmgen/internal/journal"
)

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

// probe is a part so small that it has no chunk: making it tells what the run is.
const probe = 1 << 20

// mdmgen runs a command line of the program in this process, and returns what it printed on
// standard error where it fails.
func mdmgen(ctx context.Context, args []string, out io.Writer) error {
	var said bytes.Buffer
	if code := cli.Run(ctx, append([]string{"mdmgen"}, args...), strings.NewReader(""), out, &said); code != 0 {
		return cmp.Or(ctx.Err(), fmt.Errorf("exit status %d: %s", code, bytes.TrimSpace(said.Bytes())))
	}
	return nil
}

// part makes part i of n of a command line in the file at path.
func part(ctx context.Context, args []string, i, n int, path string) error {
	more := []string{args[0], "--shard", fmt.Sprintf("%d/%d", i, n), "-o", path}
	return mdmgen(ctx, append(more, args[1:]...), io.Discard)
}

// header is what a run is on this machine.
func header(ctx context.Context, args []string) (json.RawMessage, error) {
	if len(args) == 0 {
		return nil, errors.New("no command: write it behind --, as in -- score text.txt --seed 1")
	}
	dir, err := os.MkdirTemp("", "mdmgen-queue-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "probe.jsonl")
	if err := part(ctx, args, 1, probe, path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	return bytes.TrimSpace(line), err
}

// NewJob finds out what a command line is on this machine. shards is the number of tasks, 0
// for one a chunk but no more than 1000.
func NewJob(ctx context.Context, args []string, shards int) (*Job, error) {
	h, err := header(ctx, args)
	if err != nil {
		return nil, err
	}
	var run struct{ Chunks int }
	if err := json.Unmarshal(h, &run); err != nil {
		return nil, err
	}
	if shards == 0 {
		shards = min(run.Chunks, 1000)
	}
	j := &Job{Args: args, Shards: max(1, min(shards, run.Chunks)), Chunks: run.Chunks, Header: h}
	// What the run is, and not when and where its header was made.
	var all map[string]json.RawMessage
	if err := json.Unmarshal(h, &all); err != nil {
		return nil, err
	}
	delete(all, journal.Aside)
	delete(all, "sum")
	key, err := json.Marshal([]any{all, j.Shards})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(key)
	j.ID = fmt.Sprintf("%x", sum[:6])
	return j, nil
}

// Check refuses a job whose run is another one on this machine, and names what is unlike.
func (j *Job) Check(ctx context.Context) error {
	here, err := header(ctx, j.Args)
	if err != nil {
		return fmt.Errorf("job %s: this machine cannot do it: %w", j.ID, err)
	}
	var unlike []string
	for _, name := range journal.Differ(j.Header, here) {
		if name != "sum" {
			unlike = append(unlike, name)
		}
	}
	if len(unlike) > 0 {
		return fmt.Errorf("job %s: this machine would make other bits: its %s are unlike", j.ID, strings.Join(unlike, ", "))
	}
	return nil
}

// chunks is how many chunks a task has.
func (j *Job) chunks(task int) int {
	return task*j.Chunks/j.Shards - (task-1)*j.Chunks/j.Shards
}

// The names of a job's streams, subjects and stores.
func (j *Job) tasks() string       { return "mdmgen-tasks-" + j.ID }
func (j *Job) results() string     { return "mdmgen-results-" + j.ID }
func (j *Job) dead() string        { return "mdmgen-dead-" + j.ID }
func (j *Job) parts() string       { return "mdmgen-parts-" + j.ID }
func (j *Job) task(i int) string   { return fmt.Sprintf("mdmgen.%s.task.%d", j.ID, i) }
func (j *Job) result(i int) string { return fmt.Sprintf("mdmgen.%s.result.%d", j.ID, i) }
func number(subject string) int {
	n, _ := strconv.Atoi(subject[strings.LastIndexByte(subject, '.')+1:])
	return n
}
func (j *Job) merge(parts []string, output, format string) []string {
	args := []string{"merge"}
	if output != "" {
		args = append(args, "-o", output)
	}
	if format != "" {
		args = append(args, "--format", format)
	}
	return append(args, parts...)
}
