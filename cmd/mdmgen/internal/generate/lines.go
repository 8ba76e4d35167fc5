package generate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/requests"
	"mdmgen/tokenize/chat"
)

// lined is a request with its line of --input, 0 for the request of the flags.
type lined struct {
	requests.Request
	line int
}

// job is the job of a line; first is the index of its first sample.
type job struct {
	requests.Job
	line, first int
}

// asked returns the request of the flags.
func (o *options) asked() requests.Request {
	r := requests.Request{Prefix: &o.prefix, Suffix: &o.suffix, Kwargs: o.kwargs}
	if o.infill != "" {
		r.Prefix, r.Suffix, r.Infill = nil, nil, &o.infill
	}
	if o.chat != "" {
		r.Messages = []chat.Message{{Role: "user", Content: o.chat}}
	}
	return r
}

// inputName returns the name of --input in messages.
func (o *options) inputName() string {
	if o.input == "-" {
		return "standard input"
	}
	return o.input
}

// readLines reads --input, a JSON object per line.
func (g *generation) readLines() (all []lined, err error) {
	in := g.streams.In
	if g.input != "-" {
		f, err := plainfile.OpenNamed(g.ctx, g.input)
		if err != nil {
			return nil, fmt.Errorf("--input %s: %w", g.input, err)
		}
		defer f.Close()
		in = f
	}
	for line, err := range kit.Lines(in, g.inputName()) {
		if err == nil {
			all, err = g.parse(all, line)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, g.noLines()
	}
	return all, nil
}

// noLines returns the error of an input without lines.
func (o *options) noLines() error {
	return fmt.Errorf(`%s: no lines: write a JSON object in each, such as {"prefix":"Once upon a time"}`, o.inputName())
}

// parse appends the request of a line of input, none for an empty line.
func (g *generation) parse(all []lined, line kit.TextLine) ([]lined, error) {
	text := bytes.TrimSpace(line.Text)
	if line.N == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	if len(text) == 0 {
		return all, nil
	}
	r, err := requests.Parse(text, 0)
	if err != nil {
		return all, g.wrong(line.N, err)
	}
	return append(all, lined{r, line.N}), nil
}

// wrong returns the error of a line of --input or, if line is 0, of the flags.
func (g *generation) wrong(line int, err error) error {
	switch {
	case g.ctx.Err() != nil:
		return g.ctx.Err()
	case line > 0:
		text := fault.Spell(fault.WithoutName(err), func(t fault.Term) string {
			if canvas, others := requests.Keys(); slices.Contains(append(canvas, others...), strings.ReplaceAll(t.Name, "-", "_")) {
				return t.String() // a line has fields
			}
			return g.all.Spell(t)
		})
		return &exit.Error{Code: exit.Code(err), Err: fmt.Errorf("%s:%d: %s", g.inputName(), line, text)}
	case errors.As(err, new(*requests.Error)):
		return g.all.Refuse("generate", err)
	}
	return fault.WithoutName(err)
}

// take makes the jobs of requests.
func (g *generation) take(all []lined) error {
	g.jobs = nil
	for _, l := range all {
		j, err := g.builder.Job(g.ctx, l.Request)
		if err != nil {
			return g.wrong(l.line, err)
		}
		if err := g.checkAudit(j.Sampler); err != nil {
			return err
		}
		if g.next+j.N > requests.MaxSamples {
			return exit.Usagef("generate: more than %d samples", requests.MaxSamples)
		}
		if free := len(g.free(j.Tokens)); l.line == 0 && g.sampler.Calls > free {
			g.streams.Notice(fmt.Sprintf("--calls %d: the text takes at most %d, one for each position to sample", g.sampler.Calls, free))
		}
		if j.Blanks != nil && !g.blankTold {
			g.blankTold = true
			g.streams.BlankMoved()
		}
		g.jobs = append(g.jobs, job{j, l.line, g.next})
		g.next += j.N
	}
	return nil
}

// at returns the job of a sample.
func (g *generation) at(index int) *job {
	i, _ := slices.BinarySearchFunc(g.jobs, index, func(j job, index int) int { return cmp.Compare(j.first+j.N-1, index) })
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
func (g *generation) interact() error {
	results := newResults(kit.NewProvenance(g.network, g.words), g.printing(), g.printer())
	for lines, wrong := range kit.Gather(kit.Lines(g.streams.In, g.inputName()), g.settings.Batch, g.chunkSize(), patience) {
		var all []lined
		for _, line := range lines {
			var err error
			if all, err = g.parse(all, line); err != nil {
				wrong = err
				break
			}
		}
		if err := g.take(all); err != nil {
			wrong = err
		}
		var c chunk
		var err error
		if len(g.jobs) > 0 {
			results.record.Settings.ChatTemplate = g.texts.Template()
			err = g.fill(&c, g.jobs[0].first, g.next, &kit.Progress{}, results.print, func(piece) error { return nil })
			err = cmp.Or(err, results.take(c))
		}
		if out := g.streams.Results; err == nil && out.Streaming() {
			err = out.Flush()
		}
		switch {
		case err != nil || errors.Is(wrong, context.Canceled):
			return g.end(results, cmp.Or(err, wrong))
		case wrong != nil:
			results.record.Interrupted = true
			g.sampler.ShowSeed(g.streams, g.settings.Seed)
			return errors.Join(results.finish(), wrong)
		}
	}
	if g.next == 0 {
		return g.noLines()
	}
	return g.end(results, g.ctx.Err())
}
