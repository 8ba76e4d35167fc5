package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/serve"
)

// Lines turns lines of --input into jobs one by one, for a command that fills them together with
// others.
type Lines struct {
	o options
	g generation
}

// Flags returns the flags of generate that apply to all lines.
func (l *Lines) Flags() flags.Set {
	all := l.o.flags()
	l.o.input, l.o.format = "-", "jsonl"
	names := append(new(setup.Model).Flags().Names(), "tokenizer", "batch", "cache", "cache-memory")
	return all.Only(names...)
}

// Open opens the model and, if it has one, its tokenizer. It returns the part of a server's
// configuration that the flags determine.
func (l *Lines) Open(ctx context.Context, s kit.Streams) (c serve.Config, err error) {
	l.g = generation{options: &l.o, ctx: ctx, streams: s}
	if err := l.g.findTokenizer(); err != nil {
		return c, err
	}
	if l.g.network, err = l.o.model.Open(ctx, s, l.o.all); err != nil {
		return c, err
	}
	l.g.facts = l.g.network.Facts()
	if err := l.g.prepare(); err != nil {
		return c, errors.Join(err, l.g.network.Close())
	}
	if l.g.words != nil {
		_, _ = l.g.prompt(nil) // Reads the template now. If there is none, a chat gets the error.
	}
	return serve.Config{Model: l.g.network, Words: l.g.words, Job: l.job, Record: l.record, Piece: l.g.piece, Batch: l.g.batch(), CacheMemory: setup.KeepBytes(l.o.cacheMemory)}, nil
}

// job parses a line. fill, if not 0, is the number of positions to sample in addition to the given
// ones, unless the line has a length.
func (l *Lines) job(ctx context.Context, line []byte, fill int) (out serve.Job, err error) {
	layout := *l.g.layout // Parsing a line changes it.
	layout.MaxSamples = serve.MaxSamples
	if fill > 0 {
		layout.Length = canvas.Length{Fill: fill}
	}
	read, err := layout.Object(line)
	if err != nil {
		return out, err
	}
	method, err := l.g.methodOf(ctx, read)
	if err != nil {
		return out, err
	}
	j := job{Job: read, method: method, n: cmp.Or(read.Own.N, 1)}
	if err := l.g.fits(j); err != nil {
		return out, err
	}
	return serve.Job{
		Canvas: j.Canvas, N: j.n, Seed: setup.SeedOr(j.Own.Seed), Method: method,
		Sample: func(r samplers.Result) (any, error) { return l.g.sample(&j, r) },
	}, nil
}

// record returns the record of a job's samples, without totals.
func (l *Lines) record(j serve.Job) any {
	s := l.g.settings
	s.Settings, s.N, s.Seed, s.Length = j.Method.Settings(), j.N, j.Seed, len(j.Canvas)
	return struct {
		Provenance kit.Provenance `json:"provenance"`
		Settings   settings       `json:"settings"`
	}{kit.NewProvenance(l.g.network, l.g.words), s}
}

// job is a canvas with the way it is sampled.
type job struct {
	canvas.Job
	method *catalog.Sampler
	// n is the number of samples of it; first is the index of the first.
	n, first int
}

// take sets how each canvas is sampled: by the flags, except for what its line overrides.
func (g *generation) take(jobs []canvas.Job) error {
	g.jobs = nil
	for _, j := range jobs {
		method, err := g.methodOf(g.ctx, j)
		if err != nil {
			return cmp.Or(g.ctx.Err(), fmt.Errorf("%s:%d: %s", canvas.InputName(g.input), j.Line, fault.Plain(err)))
		}
		own := job{j, method, cmp.Or(j.Own.N, g.n), g.next}
		if err := g.checkAudit(method); err != nil {
			return err
		}
		if err := g.fits(own); err != nil {
			where := ""
			if j.Line > 0 {
				where = fmt.Sprintf("line %d of --input: ", j.Line)
			}
			return exit.Usagef("generate: %s%s", where, fault.Plain(err))
		}
		if g.next+own.n > canvas.MaxSamples {
			return exit.Usagef("generate: more than %d samples", canvas.MaxSamples)
		}
		g.next += own.n
		g.jobs = append(g.jobs, own)
	}
	return nil
}

// methodOf returns the sampler of a job: its line's own, else that of the flags.
func (g *generation) methodOf(ctx context.Context, j canvas.Job) (*catalog.Sampler, error) {
	own := j.Own.Patterns != nil || g.patterns != nil && j.Own.Options.SuppressTokens != ""
	if j.Own.Options.Sampler == "" && j.Own.Given == nil && !own {
		return g.method, nil
	}
	opts, err := j.Own.With(g.base)
	if err == nil && own {
		opts, err = g.matched(ctx, j, opts)
	}
	if err != nil {
		return nil, err
	}
	return catalog.New(opts, g.network.Spec())
}

// at returns the job of a sample.
func (g *generation) at(index int) *job {
	i, _ := slices.BinarySearchFunc(g.jobs, index, func(j job, index int) int { return cmp.Compare(j.first+j.n-1, index) })
	return &g.jobs[i]
}

// patience is the time that a line of standard input waits for others to share its calls.
const patience = 50 * time.Millisecond

// converses reports whether lines of standard input are answered as they come, so that another
// program can read an answer before it writes the next line.
func (g *generation) converses() bool {
	return g.input == "-" && g.format != "json" && !g.dryRun && !g.chunks.Given() && g.chunks.Resume == ""
}

// interact samples the lines that have arrived, prints, and reads on. An invalid line ends it,
// after the answers to the previous lines.
func (g *generation) interact(out *kit.Output) error {
	all := newResults(kit.NewProvenance(g.network, g.words), g.printing(), g.printer(out))
	name := canvas.InputName(g.input)
	for lines, wrong := range kit.Gather(kit.Lines(g.streams.In, name), g.settings.Batch, g.chunkSize(), patience) {
		var jobs []canvas.Job
		for _, line := range lines {
			var err error
			if jobs, err = g.layout.Line(jobs, line, name); err != nil {
				wrong = err
				break
			}
		}
		if err := g.take(jobs); err != nil {
			wrong = err
		}
		err := g.reply(all)
		if err == nil && out.Streaming() {
			err = out.Flush()
		}
		switch {
		case err != nil || errors.Is(wrong, context.Canceled):
			return g.end(all, cmp.Or(err, wrong))
		case wrong != nil:
			all.record.Interrupted = true
			g.sampler.ShowSeed(g.streams, g.settings.Seed)
			return errors.Join(all.finish(), wrong)
		}
	}
	if g.next == 0 {
		return canvas.NoLines(name)
	}
	return g.end(all, g.ctx.Err())
}

// reply samples the jobs taken last.
func (g *generation) reply(all *results) error {
	if len(g.jobs) == 0 {
		return nil
	}
	all.record.Settings.ChatTemplate = g.templateDigest()
	var c chunk
	err := g.fill(&c, g.jobs[0].first, g.next, &kit.Progress{}, all.print, func(piece) error { return nil })
	return cmp.Or(err, all.take(c))
}
