package queue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"mdmgen/cmd/mdmgen/app"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// passingFields matches the fields in which equal runs differ.
var passingFields = regexp.MustCompile(`"(network|total|sampling|rest|effective|in_step)":[-+.e0-9]+|"started":"[^"]*"|"([a-z_]*seconds|total_over_network|[a-z_]*tokens_per_[a-z_]*|ratio)":\{[^}]*\}|"peak_bytes":[0-9]+`)

// command returns a command line on a world, which needs no runtime.
func command(t *testing.T) []string {
	t.Helper()
	lines := filepath.Join(t.TempDir(), "lines.jsonl")
	r := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	for range 2000 {
		fmt.Fprintf(&text, `{"ids":[%d,%d,%d]}`+"\n", r.IntN(2), r.IntN(2), r.IntN(2))
	}
	reftest.OK(t, os.WriteFile(lines, []byte(text.String()), 0o600))
	return []string{"score", lines, "--model", filepath.Join("..", "testdata", "reference", "laws", "xor3-mixed.json"), "--exact", "--sampler", "tweedie", "--steps", "2", "--json"}
}

func connect(t *testing.T, store string) *Queue {
	t.Helper()
	q := reftest.Must(Connect(t.Context(), Address{Store: store}))(t)
	t.Cleanup(q.Close)
	return q
}

func newJob(t *testing.T, args []string, shards int) (j *Job) {
	t.Helper()
	reftest.OK(t, app.Parts(t.Context(), args, func(header json.RawMessage, _ func(int, int, string) error) (err error) {
		j, err = NewJob(args, header, shards)
		return err
	}))
	return j
}

// checkHere checks a job as a worker does.
func checkHere(t *testing.T, j *Job) error {
	t.Helper()
	return app.Parts(t.Context(), j.Args, func(header json.RawMessage, _ func(int, int, string) error) error { return j.Check(header) })
}

// work runs n workers until the job has ended.
func work(t *testing.T, q *Queue, j *Job, n int) {
	t.Helper()
	reftest.OK(t, q.Work(t.Context(), n, j.Args, func(header json.RawMessage) (*Job, error) { return j, j.Check(header) }))
}

// check compares the queue's result with that of a single process.
func check(t *testing.T, q *Queue, j *Job) {
	t.Helper()
	var want, got, said bytes.Buffer
	if code := app.Run(t.Context(), append([]string{"mdmgen"}, j.Args...), strings.NewReader(""), &want, &said); code != 0 {
		t.Fatal(said.String())
	}
	reftest.OK(t, q.Fetch(t.Context(), j, "", &app.StandardOutput{W: &got}))
	if a, b := passingFields.ReplaceAll(got.Bytes(), nil), passingFields.ReplaceAll(want.Bytes(), nil); !bytes.Equal(a, b) {
		t.Errorf("the queue made\n%.1000s\nwant\n%.1000s", a, b)
	}
}

// TestCommands checks for all commands that three workers produce what one process does.
func TestCommands(t *testing.T) {
	q := connect(t, t.TempDir())
	world := command(t)[3]
	for _, args := range [][]string{
		{"generate", "-n", "2000", "--model", world, "--batch", "12", "--seed", "5", "--json"},
	} {
		j := newJob(t, args, 7)
		reftest.Must(q.Submit(t.Context(), j, Limits{Deliveries: 3}))(t)
		work(t, q, j, 3)
		check(t, q, j)
		objects := reftest.Must(q.js.ObjectStore(t.Context(), j.parts()))(t)
		if list, err := objects.List(t.Context()); err != nil || len(list) != j.Shards {
			t.Errorf("%d objects: %v", len(list), err)
		}
	}
}

// TestThreeWorkers checks that the results of three workers equal those of one process, that
// submitting again queues nothing, and that the server rejects a second result.
func TestThreeWorkers(t *testing.T) {
	q, j := connect(t, t.TempDir()), newJob(t, command(t), 0)
	queued, err := q.Submit(t.Context(), j, Limits{Deliveries: 3})
	if err != nil || queued != j.Shards || j.Shards != 63 {
		t.Fatalf("%d of %d queued: %v", queued, j.Shards, err)
	}
	if again, err := q.Submit(t.Context(), j, Limits{Deliveries: 3}); again != 0 || err != nil {
		t.Errorf("%d queued again: %v", again, err)
	}
	reftest.Fails(t, q.Fetch(t.Context(), j, "", &app.StandardOutput{W: io.Discard}), "", "what is not finished is fetched")
	work(t, q, j, 3)
	check(t, q, j)
	reftest.Fails(t, reftest.Err(q.js.Publish(t.Context(), j.result(1), []byte("another"))), "", "a second result is kept")
	if _, err := q.js.Publish(t.Context(), j.result(1), []byte("another"), first); !full(err) {
		t.Errorf("a second result: %v", err)
	}
	if full(&jetstream.APIError{Code: 503, ErrorCode: 10077, Description: "no space left on device"}) {
		t.Error("a result that is not stored is taken for a second one")
	}
	if again, err := q.Submit(t.Context(), j, Limits{Deliveries: 3}); again != 0 || err != nil {
		t.Errorf("%d queued after the end: %v", again, err)
	}
	var told bytes.Buffer
	s := reftest.Must(q.Status(t.Context(), j))(t)
	s.Print(&told)
	if !strings.Contains(told.String(), "63 of 63 done, 0 running, 0 waiting, 0 dead") {
		t.Error(told.String())
	}
	reftest.OK(t, q.Remove(t.Context(), j.ID))
	reftest.Fails(t, reftest.Err(q.Job(t.Context(), "")), "nothing was submitted")
	if queued, err := q.Submit(t.Context(), j, Limits{Deliveries: 3}); queued != j.Shards || err != nil {
		t.Errorf("%d queued of a job that was removed: %v", queued, err)
	}
}

// TestSlow checks that a worker keeps a task that takes longer than the time after which a silent
// worker loses it.
func TestSlow(t *testing.T) {
	q := connect(t, t.TempDir())
	j := newJob(t, []string{"generate", "-n", "200000", "--model", command(t)[3], "--batch", "8", "--seed", "1", "--format", "ids"}, 1)
	limits := Limits{Deliveries: 3, AckWait: time.Second / 2}
	reftest.Must(q.Submit(t.Context(), j, limits))(t)
	begin := time.Now()
	work(t, q, j, 2)
	if took := time.Since(begin); took < 2*limits.AckWait {
		t.Fatalf("%v: too fast to tell", took)
	}
	consumer := reftest.Must(q.js.Consumer(t.Context(), j.tasks(), "workers"))(t)
	if info, err := consumer.Info(t.Context()); err != nil || info.Delivered.Consumer != 1 {
		t.Errorf("%+v, %v: want one delivery", info, err)
	}
}

// TestFailed checks that a failed part is computed again by a reopened run.
func TestFailed(t *testing.T) {
	q, args := connect(t, t.TempDir()), command(t)
	j := newJob(t, args, 2)
	reftest.Must(q.Submit(t.Context(), j, Limits{Deliveries: 2}))(t)
	var told strings.Builder
	opened := 0
	q.log = func(format string, args ...any) { fmt.Fprintf(&told, format+"\n", args...) }
	if err := q.Work(t.Context(), 1, args, func(header json.RawMessage) (*Job, error) {
		if opened++; opened == 1 { // The text changes while the run is open.
			if err := os.Chtimes(args[1], time.Time{}, time.Unix(1, 0)); err != nil {
				return nil, err
			}
		}
		return j, j.Check(header)
	}); err != nil {
		t.Fatal(err)
	}
	if opened != 2 || strings.Count(told.String(), "was changed while it was read") != 1 {
		t.Errorf("opened %d times: %s", opened, told.String())
	}
	check(t, q, j)
}

// TestLost checks that the task of a lost worker is given to another, and that one lost too often
// becomes a dead letter, which status shows and submitting again queues.
func TestLost(t *testing.T) {
	store := t.TempDir()
	q, j := connect(t, store), newJob(t, command(t), 3)
	limits := Limits{Deliveries: 2, AckWait: time.Second}
	reftest.Must(q.Submit(t.Context(), j, limits))(t)
	consumer, err := q.js.Consumer(t.Context(), j.tasks(), "workers")
	reftest.OK(t, err)
	for range 2 * j.Shards { // Every part is taken twice, and never reported on.
		reftest.Must(consumer.Next(jetstream.FetchMaxWait(5 * time.Second)))(t)
	}
	var s *State
	for end := time.Now().Add(20 * time.Second); s == nil || s.Dead < j.Shards; {
		// The server gives a task up when it is due for another delivery.
		reftest.Fails(t, reftest.Err(consumer.Next(jetstream.FetchMaxWait(500*time.Millisecond))), "", "is given out a third time")
		if s, err = q.Status(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatalf("no dead letters: %+v", s)
		}
	}
	var told bytes.Buffer
	s.Print(&told)
	if !strings.Contains(told.String(), "0 of 3 done, 0 running, 0 waiting, 3 dead") {
		t.Error(told.String())
	}
	// A new server on the data of the previous one.
	q.Close()
	q = connect(t, store)
	if queued, err := q.Submit(t.Context(), j, limits); err != nil || queued != j.Shards {
		t.Fatalf("%d queued: %v", queued, err)
	}
	work(t, q, j, 1)
	check(t, q, j)
}

// TestRemoved checks that workers of a removed job end, even in the middle of a part.
func TestRemoved(t *testing.T) {
	q, args := connect(t, t.TempDir()), command(t)
	// It takes long, and its result is short enough for a single message.
	j := newJob(t, []string{"score", args[1], "--model", args[3], "--draws", "20000", "--limit", "64", "--seed", "1", "--json"}, 1)
	reftest.Must(q.Submit(t.Context(), j, Limits{Deliveries: 3}))(t)
	ended := make(chan error)
	go func() {
		ended <- q.Work(t.Context(), 2, j.Args, func(json.RawMessage) (*Job, error) { return j, nil })
	}()
	for end, busy := time.Now().Add(20*time.Second), false; !busy; time.Sleep(10 * time.Millisecond) {
		s, err := q.Status(t.Context(), j)
		if err != nil || time.Now().After(end) {
			t.Fatalf("no worker has the part: %+v, %v", s, err)
		}
		busy = s.Running > 0
	}
	reftest.OK(t, q.Remove(t.Context(), j.ID))
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "was removed") {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the workers do not end")
	}
}

// TestOtherBits checks that a worker rejects a run that differs on its machine.
func TestOtherBits(t *testing.T) {
	args := command(t)
	j := newJob(t, args, 2)
	reftest.OK(t, checkHere(t, j))
	j.Header = bytes.Replace(j.Header, []byte(`"digest":"sha256:`), []byte(`"digest":"sha256:0`), 1)
	reftest.Fails(t, checkHere(t, j), "model.digest")
	reftest.OK(t, os.WriteFile(args[1], []byte(`{"ids":[0,0,0]}`+"\n"), 0o600))
	reftest.Fails(t, checkHere(t, j), "text")
	if other := newJob(t, args, 2); other.ID == j.ID {
		t.Error("two runs have one ID")
	}
	for line, want := range map[string]string{"": "has no parts", "version": "has no parts", "remove x": "has no parts", "generate --dry-run --seed 1": "has no parts", "score x --seed 1 --resume f": "--resume", "generate": "--seed", "bench --seed 1 --html h": "--html"} {
		err := checkHere(t, &Job{Args: strings.Fields(line)})
		if exit.Code(err) != exit.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
