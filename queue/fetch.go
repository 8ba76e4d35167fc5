package queue

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	state, err := q.Status(ctx, j)
	if err != nil {
		return err
	}
	if state.Done < j.Shards {
		return fmt.Errorf("job %s: %d of %d parts have a result", j.ID, state.Done, j.Shards)
	}
	var paths []string
	for i := 1; i <= j.Shards; i++ {
		m, err := results.GetLastMsgForSubject(ctx, j.result(i))
		if err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		var r result
		if err := json.Unmarshal(m.Data, &r); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		data := r.Part
		if r.Object != "" {
			objects, err := q.js.ObjectStore(ctx, j.parts())
			if err != nil {
				return err
			}
			if data, err = objects.GetBytes(ctx, r.Object); err != nil {
				return fmt.Errorf("part %d: %w", i, err)
			}
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(data)); sum != r.SHA256 {
			return fmt.Errorf("part %d: what %s stored is torn: SHA-256 %s, want %s", i, r.Worker, sum, r.SHA256)
		}
		path := filepath.Join(dir, fmt.Sprintf("part-%d-of-%d.jsonl", i, j.Shards))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
		paths = append(paths, path)
	}
	return mdmgen(ctx, j.merge(paths, output, format), out)
}

func join(args []string) string { return "mdmgen " + strings.Join(args, " ") }
