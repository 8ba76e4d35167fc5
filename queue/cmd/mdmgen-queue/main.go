// Command mdmgen-queue runs mdmgen on machines that come and go:
//
//	mdmgen-queue submit --workers 3 -o result.json -- score text.txt --seed 1 --json
//
// does so on this machine, with an embedded server. On several machines, with a NATS
// JetStream server that all of them reach:
//
//	mdmgen-queue submit --nats tls://queue.example:4222 --creds me.creds -- score text.txt --seed 1 --json
//	mdmgen-queue work   --nats tls://queue.example:4222 --creds me.creds
//	mdmgen-queue status --nats tls://queue.example:4222 --creds me.creds
//	mdmgen-queue fetch  --nats tls://queue.example:4222 --creds me.creds -o result.json
//	mdmgen-queue remove --nats tls://queue.example:4222 --creds me.creds
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	mdmgen "mdmgen/cmd/mdmgen/app"
	"mdmgen/internal/exit"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/printable"
	"mdmgen/queue"
)

func main() {
	os.Exit(mdmgen.Process("mdmgen-queue", func(ctx context.Context, out *mdmgen.StandardOutput) error {
		return app(out).RunContext(ctx, os.Args)
	}))
}

// options holds the flags of all commands.
type options struct {
	out             *mdmgen.StandardOutput
	address         queue.Address
	job, output     string
	shards, workers int
	limits          queue.Limits
}

func app(out *mdmgen.StandardOutput) *cli.App {
	o := &options{out: out}
	server := []cli.Flag{
		&cli.StringFlag{Name: "nats", Usage: "connect to the NATS JetStream server at `URL`, or several separated by commas", DefaultText: "a local server", Destination: &o.address.URL},
		&cli.StringFlag{Name: "store", Usage: "without --nats, keep a local server's files in `FOLDER`", Value: "mdmgen-queue.d", Destination: &o.address.Store},
		&cli.StringFlag{Name: "creds", Usage: "read a user's credentials from `FILE`", Destination: &o.address.Credentials},
		&cli.StringFlag{Name: "tls-ca", Usage: "trust the authority in `FILE` for the server's certificate", Destination: &o.address.CA},
		&cli.StringFlag{Name: "tls-cert", Usage: "read this client's certificate from `FILE`", Destination: &o.address.Cert},
		&cli.StringFlag{Name: "tls-key", Usage: "read the key of --tls-cert from `FILE`", Destination: &o.address.Key},
	}
	job := &cli.StringFlag{Name: "job", Usage: "name the job `ID`", DefaultText: "the only one", Destination: &o.job}
	output := &cli.StringFlag{Name: "o", Usage: "write the results to `FILE`", DefaultText: "standard output", Destination: &o.output}
	workers := func(usage string, n int) cli.Flag {
		return &cli.IntFlag{Name: "workers", Usage: usage, Value: n, Destination: &o.workers}
	}
	command := func(name, usage, args string, do func(c *cli.Context, q *queue.Queue) error, own ...cli.Flag) *cli.Command {
		return &cli.Command{Name: name, Usage: usage, ArgsUsage: args, Flags: slices.Concat(server, own), HideHelpCommand: true, OnUsageError: mistyped, Action: func(c *cli.Context) error {
			if args == "" && c.NArg() > 0 {
				return usageOf(name, "takes no arguments, but has %q", c.Args().First())
			}
			if o.address.URL != "" && c.IsSet("store") {
				return usageOf(name, "--store and --nats exclude each other")
			}
			q, err := o.connect(c, name)
			if err != nil {
				return err
			}
			defer q.Close()
			return do(c, q)
		}}
	}
	return &cli.App{
		Name: "mdmgen-queue", Writer: out, Usage: "run mdmgen on machines that come and go", HideHelpCommand: true, OnUsageError: mistyped,
		ExitErrHandler: func(*cli.Context, error) {}, // main prints the error
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return exit.Usagef("unknown command %q: must be submit, work, status, fetch or remove", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			command("submit", "queue the parts of a run", "-- COMMAND ARGS…", o.submit,
				&cli.IntFlag{Name: "shards", Usage: "split the run into `N` tasks", DefaultText: "one per chunk, at most 1000", Destination: &o.shards},
				&cli.IntFlag{Name: "deliveries", Usage: "try a task `N` times before it is a dead letter", Value: 5, Destination: &o.limits.Deliveries},
				&cli.DurationFlag{Name: "ack-wait", Usage: "give the task of a silent worker to another after `TIME`", Value: 30 * time.Second, Destination: &o.limits.AckWait},
				workers("also work, with `N` workers in this process, and fetch the results", 0), output),
			command("work", "run parts until all are done", "", o.of(o.work), job, workers("`N` workers in this process", 1)),
			command("status", "print what is done, and what failed", "", o.of(o.status), job),
			command("fetch", "merge the results", "", o.of(o.fetch), job, output),
			command("remove", "remove a job with its results from the server", "", func(c *cli.Context, q *queue.Queue) error { return q.Remove(c.Context, o.job) }, job),
		},
	}
}

func mistyped(_ *cli.Context, err error, _ bool) error {
	return exit.Usagef("%s: --help lists the flags", err)
}

func usageOf(command, format string, args ...any) error {
	return exit.Usagef(command+": "+format, args...)
}

// minAckWait is the minimum --ack-wait. A worker reports six times in it that it is alive.
const minAckWait = time.Second

// connect checks the combination of flags before it connects to a server.
func (o *options) connect(c *cli.Context, command string) (*queue.Queue, error) {
	switch {
	case command == "submit" && c.NArg() == 0:
		return nil, usageOf(command, "give the command after --, as in -- score text.txt --seed 1 --json")
	case o.shards < 0 || c.IsSet("shards") && o.shards == 0:
		return nil, usageOf(command, "--shards must be at least 1")
	case o.workers < 0 || c.IsSet("workers") && o.workers == 0:
		return nil, usageOf(command, "--workers must be at least 1")
	case command == "submit" && o.limits.Deliveries < 1:
		return nil, usageOf(command, "--deliveries must be at least 1")
	case command == "submit" && o.limits.AckWait < minAckWait:
		return nil, usageOf(command, "--ack-wait must be at least %v", minAckWait)
	case command == "submit" && o.workers == 0 && c.IsSet("o"):
		return nil, usageOf(command, "-o needs --workers: without workers nothing runs here; fetch writes the results")
	}
	for _, name := range []string{"creds", "tls-ca", "tls-cert", "tls-key"} {
		switch path := c.String(name); {
		case path == "":
		case o.address.URL == "":
			return nil, usageOf(command, "--%s is for the server of --nats", name)
		default:
			if _, err := os.ReadFile(path); err != nil {
				return nil, fmt.Errorf("--%s %s: %w", name, path, plainfile.Cause(err))
			}
		}
	}
	if err := mdmgen.Writable(c.Context, o.output); err != nil {
		return nil, err
	}
	if _, err := os.Stat(o.address.Store); o.address.URL == "" && command != "submit" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("nothing was submitted here: folder %s does not exist", o.address.Store)
	}
	o.address.Log = func(format string, args ...any) { notice(c, format, args...) }
	return queue.Connect(c.Context, o.address)
}

func (o *options) submit(c *cli.Context, q *queue.Queue) error {
	if q.Open() {
		notice(c, "the server requires no password: anyone who reaches it can have its workers run commands; see --creds and --tls-cert")
	}
	args := c.Args().Slice()
	var j *queue.Job
	var once sync.Once
	var err error
	job := func(header json.RawMessage) (*queue.Job, error) {
		once.Do(func() {
			var queued int
			if j, err = queue.NewJob(args, header, o.shards); err != nil {
				return
			}
			if queued, err = q.Submit(c.Context, j, o.limits); err == nil {
				notice(c, "job %s: queued %d of %d parts, %d chunks", j.ID, queued, j.Shards, j.Chunks)
			}
		})
		return j, err
	}
	if o.workers == 0 {
		return mdmgen.Parts(c.Context, args, func(header json.RawMessage, _ func(int, int, string) error) error {
			_, err := job(header)
			return err
		})
	}
	if err := q.Work(c.Context, o.workers, args, job); err != nil {
		return err
	}
	return o.fetch(c, q, j)
}

// notice prints a line on standard error. Several workers call it.
func notice(c *cli.Context, format string, args ...any) {
	fmt.Fprintln(c.App.ErrWriter, "mdmgen-queue:", printable.String(fmt.Sprintf(format, args...)))
}

// of returns the action of a command for a job.
func (o *options) of(do func(c *cli.Context, q *queue.Queue, j *queue.Job) error) func(*cli.Context, *queue.Queue) error {
	return func(c *cli.Context, q *queue.Queue) error {
		j, err := q.Job(c.Context, o.job)
		if err != nil {
			return err
		}
		return do(c, q, j)
	}
}

func (o *options) work(c *cli.Context, q *queue.Queue, j *queue.Job) error {
	return q.Work(c.Context, o.workers, j.Args, func(header json.RawMessage) (*queue.Job, error) { return j, j.Check(header) })
}

func (o *options) status(c *cli.Context, q *queue.Queue, j *queue.Job) error {
	s, err := q.Status(c.Context, j)
	if err == nil {
		s.Print(o.out)
	}
	return err
}

func (o *options) fetch(c *cli.Context, q *queue.Queue, j *queue.Job) error {
	return q.Fetch(c.Context, j, o.output, o.out)
}
