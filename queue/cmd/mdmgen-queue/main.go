// Command mdmgen-queue does a run of mdmgen on machines that come and go:
//
//	mdmgen-queue submit --workers 3 -o result.json -- score text.txt --seed 1 --json
//
// does it on this machine, with a server inside. On several machines, with a server of NATS
// JetStream that all of them reach:
//
//	mdmgen-queue submit --nats tls://queue.example:4222 --creds me.creds -- score text.txt --seed 1 --json
//	mdmgen-queue work   --nats tls://queue.example:4222 --creds me.creds
//	mdmgen-queue status --nats tls://queue.example:4222 --creds me.creds
//	mdmgen-queue fetch  --nats tls://queue.example:4222 --creds me.creds -o result.json
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"mdmgen/queue"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "mdmgen-queue: interrupted")
		os.Exit(130)
	}
	fmt.Fprintln(os.Stderr, "mdmgen-queue:", err)
	if errors.Is(err, errUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}

// errUsage says that what was typed is wrong.
var errUsage = errors.New("usage: mdmgen-queue submit|work|status|fetch [FLAGS] [-- COMMAND ARGS…]; mdmgen-queue submit --help lists the flags")

// options are the flags, which all commands share.
type options struct {
	address             queue.Address
	job, output, format string
	shards, workers     int
	limits              queue.Limits
	name                string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	commands := map[string]func(context.Context, *options, *queue.Queue, []string, io.Writer, io.Writer) error{"submit": submit, "work": work, "status": status, "fetch": fetch}
	command := commands[args[0]]
	if command == nil {
		return fmt.Errorf("unknown command %q: %w", args[0], errUsage)
	}
	o := &options{}
	f := flag.NewFlagSet("mdmgen-queue "+args[0], flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.address.URL, "nats", "", "`URL` of a server of NATS JetStream, or several with commas (default: a server of this machine)")
	f.StringVar(&o.address.Store, "store", "mdmgen-queue.d", "`FOLDER` of the server of this machine, without --nats")
	f.StringVar(&o.address.Credentials, "creds", "", "`FILE` with a user's credentials")
	f.StringVar(&o.address.CA, "tls-ca", "", "`FILE` with the authority that signs the server's certificate")
	f.StringVar(&o.address.Cert, "tls-cert", "", "`FILE` with this client's certificate")
	f.StringVar(&o.address.Key, "tls-key", "", "`FILE` with the key of --tls-cert")
	f.StringVar(&o.job, "job", "", "`ID` of the job (default: the only one)")
	f.StringVar(&o.output, "o", "", "`FILE` for the results of fetch, and of submit --workers (default: standard output)")
	f.StringVar(&o.format, "format", "", "`FORMAT` of the results (default: the run's)")
	f.IntVar(&o.shards, "shards", 0, "`N` tasks of the run (default: one a chunk, at most 1000)")
	f.IntVar(&o.workers, "workers", 0, "`N` workers in this process (default: submit none, work one)")
	f.IntVar(&o.limits.Deliveries, "deliveries", 5, "`N` times that a task is given out before it is a dead letter")
	f.DurationVar(&o.limits.AckWait, "ack-wait", 30*time.Second, "`TIME` for which a task is a worker's that says nothing")
	f.StringVar(&o.name, "name", "", "`NAME` of the worker (default: host and process)")
	if err := f.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w", errUsage)
	}
	q, err := queue.Connect(ctx, o.address)
	if err != nil {
		return err
	}
	defer q.Close()
	return command(ctx, o, q, f.Args(), stdout, stderr)
}

func submit(ctx context.Context, o *options, q *queue.Queue, args []string, stdout, stderr io.Writer) error {
	j, err := queue.NewJob(ctx, args, o.shards)
	if err != nil {
		return err
	}
	queued, err := q.Submit(ctx, j, o.limits)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "mdmgen-queue: job %s: queued %d of %d parts, %d chunks\n", j.ID, queued, j.Shards, j.Chunks)
	if o.workers == 0 {
		return nil
	}
	if err := o.work(ctx, q, j, stderr); err != nil {
		return err
	}
	return q.Fetch(ctx, j, o.output, o.format, stdout)
}

func work(ctx context.Context, o *options, q *queue.Queue, _ []string, _, stderr io.Writer) error {
	j, err := q.Job(ctx, o.job)
	if err != nil {
		return err
	}
	return o.work(ctx, q, j, stderr)
}

// work runs the workers of this process until the job has ended.
func (o *options) work(ctx context.Context, q *queue.Queue, j *queue.Job, stderr io.Writer) error {
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	var all sync.WaitGroup
	var told sync.Mutex
	faults := make([]error, max(o.workers, 1))
	for i := range faults {
		name := o.name
		if name == "" {
			name = fmt.Sprintf("%s-%d", host, os.Getpid())
		}
		w := &queue.Worker{Queue: q, Job: j, Name: fmt.Sprintf("%s-%d", name, i), Tell: func(format string, args ...any) {
			told.Lock()
			defer told.Unlock()
			fmt.Fprintf(stderr, "mdmgen-queue: "+format+"\n", args...)
		}}
		all.Go(func() { faults[i] = w.Work(ctx) })
	}
	all.Wait()
	return errors.Join(faults...)
}

func status(ctx context.Context, o *options, q *queue.Queue, _ []string, stdout, _ io.Writer) error {
	j, err := q.Job(ctx, o.job)
	if err != nil {
		return err
	}
	s, err := q.Status(ctx, j)
	if err != nil {
		return err
	}
	s.Print(stdout)
	return nil
}

func fetch(ctx context.Context, o *options, q *queue.Queue, _ []string, stdout, _ io.Writer) error {
	j, err := q.Job(ctx, o.job)
	if err != nil {
		return err
	}
	return q.Fetch(ctx, j, o.output, o.format, stdout)
}
