package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bench"
	"mdmgen/internal/journal"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/tokenize"
)

// benching is one run of bench.
type benching struct {
	c        *cli.Context
	streams  streams
	settings bench.RunSettings
	// deadline ends the work; zero for none.
	begin, deadline time.Time
	models          map[int]model.Model
	facts           facts.Facts
	tokenizer       *tokenize.Tokenizer
	cells           []bench.Cell
	outputs         benchOutputs
	quality         benchQuality
	// old is the report of --compare.
	old *bench.Report
	log bench.Log
	// journal is nil without --resume.
	journal *journal.Journal
}

func benchAction(c *cli.Context, s streams) (err error) {
	r := &benching{c: c, streams: s, begin: time.Now(), models: make(map[int]model.Model)}
	if err := checkBenchFlags(c); err != nil {
		return err
	}
	if c.NArg() > 0 {
		return benchCompare(c, s)
	}
	settings, err := benchSettings(c)
	if err != nil {
		return err
	}
	if err := r.readSettings(settings); err != nil {
		return err
	}
	if c.IsSet("compare") {
		if r.old, err = readReport(c.Context, "--compare", c.String("compare")); err != nil {
			return err
		}
	}
	defer r.outputs.close()
	if err := r.outputs.open(c, s); err != nil {
		return err
	}
	if err := r.findTokenizer(); err != nil {
		return err
	}
	defer func() {
		for _, m := range r.models {
			if cerr := m.Close(); err == nil {
				err = cerr
			}
		}
	}()
	if err := r.open(settings); err != nil {
		return err
	}
	noticeProfile(c, s, r.cells[0].Model)
	defer r.quality.close()
	if err := r.prepareQuality(); err != nil {
		return err
	}
	if err := r.openJournal(); err != nil {
		return err
	}
	defer r.journal.Close()
	return r.run()
}

// readSettings reads the flags of a run.
func (r *benching) readSettings(settings []bench.Setting) (err error) {
	c := r.c
	if limit := c.Duration("max-time"); limit > 0 {
		// What is left of it is for writing the results.
		rest := min(limit/10, time.Second)
		if c.IsSet("html") || c.IsSet("plots") {
			rest = min(limit/4, 5*time.Second)
		}
		r.deadline = r.begin.Add(limit - rest)
	}
	r.settings = bench.RunSettings{
		Sequences: c.Int("n"), Repetitions: c.Int("repetitions"), Warmup: c.Int("warmup"), Seed: c.Uint64("seed"),
		MaxSeconds: c.Duration("max-time").Seconds(), Confidence: c.Float64("confidence"), Prefix: c.String("prefix"), Profile: profileDigest(c),
	}
	if !c.IsSet("seed") {
		r.settings.Seed = rand.Uint64() >> 11
	}
	var ids []string
	for _, x := range settings {
		ids = append(ids, x.ID())
	}
	if c.IsSet("baseline") {
		if r.settings.Baseline, err = bench.Match(c.String("baseline"), ids); err != nil {
			return usagef("--baseline: %s", bare(err))
		}
	}
	for _, text := range c.StringSlice("pair") {
		cell, than, err := bench.ParsePair(text, ids)
		if err != nil {
			return benchUsage(err)
		}
		r.settings.Pairs = append(r.settings.Pairs, [2]string{cell, than})
	}
	return nil
}

// limited is the command's context with the deadline.
func (r *benching) limited() (context.Context, context.CancelFunc) {
	if r.deadline.IsZero() {
		return r.c.Context, func() {}
	}
	return context.WithDeadline(r.c.Context, r.deadline)
}

// findTokenizer opens the tokenizer if there is one: text is timed where it can be made.
func (r *benching) findTokenizer() (err error) {
	r.tokenizer, err = openTokenizer(r.c, r.streams)
	if errors.Is(err, errNoTokenizer) {
		return nil
	}
	return err
}

// open opens a network for each number of threads and makes the cells.
func (r *benching) open(settings []bench.Setting) error {
	ctx, cancel := r.limited()
	defer cancel()
	opts, err := modelOptions(r.c, r.streams, r.c.String("model"))
	if err != nil {
		return err
	}
	for _, s := range settings {
		if r.models[s.Threads] != nil {
			continue
		}
		opts.Runtime.Threads = s.Threads
		m, err := r.streams.open(ctx, r.c.String("model"), opts)
		if m != nil {
			r.models[s.Threads] = m
		}
		if r.c.Context.Err() == nil && ctx.Err() != nil {
			return fmt.Errorf("bench: --max-time %v is over before the model is open: give more", r.c.Duration("max-time"))
		}
		if err != nil {
			return err
		}
		r.facts = m.Facts()
	}
	if t := r.tokenizer; t != nil && t.Size() < r.facts.Columns-len(r.facts.Excluded()) {
		return fmt.Errorf("the tokenizer has %d tokens, the model %d: they do not belong together", t.Size(), r.facts.Columns-len(r.facts.Excluded()))
	}
	for _, s := range settings {
		canvas, err := r.canvas(s.Length)
		if err != nil {
			return err
		}
		most := 8
		if r.facts.Family == "world" {
			most = 256
		}
		cell, err := bench.NewCell(s, r.models[s.Threads], canvas, min(most, r.settings.Sequences))
		if err != nil {
			return usagef("bench: %s: %s", s.ID(), bare(err))
		}
		r.cells = append(r.cells, cell)
	}
	return nil
}

// canvas is what sequences begin as.
func (r *benching) canvas(length int) ([]int, error) {
	l := &layout{facts: r.facts, length: length, open: func() (encoder, error) {
		if r.tokenizer == nil {
			return nil, missingf("a text to begin from needs a tokenizer: give one with --tokenizer")
		}
		return r.tokenizer, nil
	}}
	prefix := r.c.String("prefix")
	canvas, err := l.between(&prefix, nil, length)
	if err != nil {
		var coded *codedError
		if errors.As(err, &coded) {
			return nil, err
		}
		return nil, usagef("bench: %v", err)
	}
	if r.facts.Shift && prefix == "" {
		return nil, usagef("bench: the network predicts position l from row l−1: give the first token with --prefix")
	}
	return canvas, nil
}

// run runs the cells, looks at quality and prints.
func (r *benching) run() error {
	if !r.c.IsSet("seed") {
		r.streams.notice(fmt.Sprintf("seed %d", r.settings.Seed))
	}
	cfg := bench.Config{
		Repetitions: r.settings.Repetitions, Sequences: r.settings.Sequences, Warmup: r.settings.Warmup, Seed: r.settings.Seed,
		Deadline: r.deadline, Keep: r.quality.needsIDs(),
	}
	if r.tokenizer != nil {
		cfg.Text = func(ids []int) error {
			_, err := text(r.tokenizer, ids, r.facts.MaskID)
			return err
		}
	}
	if !r.deadline.IsZero() && r.quality.any() {
		// Half of the time for each, and what quality does not take for repetitions again.
		cfg.Deadline = time.Now().Add(time.Until(r.deadline) / 2)
	}
	if err := r.outputs.replay(&r.log); err != nil {
		return err
	}
	measured, err := r.repetitions(cfg)
	if err != nil {
		return err
	}
	looked, err := r.look()
	if err != nil {
		return err
	}
	if cfg.Deadline = r.deadline; !measured && r.quality.any() && r.c.Context.Err() == nil {
		if measured, err = r.repetitions(cfg); err != nil {
			return err
		}
	}
	report := r.report()
	report.Complete, report.Interrupted = measured && looked, r.c.Context.Err() != nil
	r.notes(&report)
	if err := r.outputs.write(&report, &r.log, r.old); err != nil {
		return err
	}
	return r.c.Context.Err()
}

// repetitions runs what is missing of the cells, and says whether all of it is done. An
// interrupt is no error here.
func (r *benching) repetitions(cfg bench.Config) (bool, error) {
	bar := newBar(r.streams, len(r.cells)*cfg.Repetitions-len(r.log.Repetitions), true, "measuring", "repetitions")
	defer bar.clear()
	cfg.Done = r.log.Repetitions
	cfg.OnRepetition = func(rep bench.Repetition) error {
		bar.add(1)
		r.log.Repetitions = append(r.log.Repetitions, rep)
		return r.keep(rep)
	}
	_, complete, err := bench.Run(r.c.Context, r.cells, cfg)
	if err != nil && r.c.Context.Err() == nil {
		return false, benchFailed(err)
	}
	return complete, nil
}

// benchFailed is an error of the work with one name before it.
func benchFailed(err error) error { return fmt.Errorf("bench: %w", &bareCause{err}) }

// bareCause drops names of packages from an error's words.
type bareCause struct{ err error }

func (e *bareCause) Error() string { return strings.ReplaceAll(bare(e.err), "likelihood: ", "") }
func (e *bareCause) Unwrap() error { return e.err }
