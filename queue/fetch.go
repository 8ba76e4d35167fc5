package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"mdmgen/cmd/mdmgen/app"
	"mdmgen/internal/exit"
)

// Fetch merges the results of a job, which must have all of them, and writes what one process
// would have written: to the file output, or to out where that is "". format is "" for that of
// the run.
func (q *Queue) Fetch(ctx context.Context, j *Job, output, format string, out io.Writer) error {
	dir, err := os.MkdirTemp("", "mdmgen-fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	results, err := q.js.Stream(ctx, j.results())
	if err != nil {
		return err
	}
	if done := int(results.CachedInfo().State.Msgs); done < j.Shards {
		return fmt.Errorf("job %s: %d of %d parts have a result", j.ID, done, j.Shards)
	}
	objects, err := q.js.ObjectStore(ctx, j.parts())
	if err != nil {
		return err
	}
	args := []string{"mdmgen", "merge"}
	if output != "" {
		args = append(args, "-o", output)
	}
	if format != "" {
		args = append(args, "--format", format)
	}
	for i := 1; i <= j.Shards; i++ {
		path := filepath.Join(dir, fmt.Sprintf("part-%d-of-%d.jsonl", i, j.Shards))
		if err := get(ctx, results, objects, j.result(i), path); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		args = append(args, path)
	}
	var said bytes.Buffer
	if code := app.Run(ctx, args, strings.NewReader(""), out, &said); code != exit.OK {
		return &exit.Error{Code: code, Err: errors.New(strings.TrimSpace(said.String()))}
	}
	return nil
}

// get writes a result to a file. Whether it is whole is seen by who reads it.
func get(ctx context.Context, results jetstream.Stream, objects jetstream.ObjectStore, subject, path string) error {
	m, err := results.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return err
	}
	if name := m.Header.Get(objectHeader); name != "" {
		return objects.GetFile(ctx, name, path)
	}
	return os.WriteFile(path, m.Data, 0o600)
}
