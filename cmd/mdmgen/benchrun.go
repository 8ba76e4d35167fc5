package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bench"
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
	deadline  time.Time
	models    map[int]model.Model
	facts     facts.Facts
	tokenizer *tokenize.Tokenizer
	cells     []bench.Cell
}

func benchAction(c *cli.Context, s streams) (err error) {
	begin := time.Now()
	if err := checkBenchFlags(c); err != nil {
		return err
	}
	settings, err := benchSettings(c)
	if err != nil {
		return err
	}
	r := &benching{c: c, streams: s, models: make(map[int]model.Model)}
	if limit := c.Duration("max-time"); limit > 0 {
		// What is left of it is for writing the results.
		r.deadline = begin.Add(limit - min(limit/20, time.Second))
	}
	r.settings = bench.RunSettings{
		Sequences: c.Int("n"), Repetitions: c.Int("repetitions"), Warmup: c.Int("warmup"), Seed: c.Uint64("seed"),
		MaxSeconds: c.Duration("max-time").Seconds(), Confidence: c.Float64("confidence"), Prefix: c.String("prefix"),
	}
	if !c.IsSet("seed") {
		r.settings.Seed = rand.Uint64() >> 11
	}
	if c.IsSet("baseline") {
		var ids []string
		for _, x := range settings {
			ids = append(ids, x.ID())
		}
		if r.settings.Baseline, err = bench.Match(c.String("baseline"), ids); err != nil {
			return benchUsage(err)
		}
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
	return r.run()
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
	r.tokenizer, err = openTokenizer(r.c)
	if errors.Is(err, errNoTokenizer) {
		return nil
	}
	return err
}

// open opens a network for each number of threads and makes the cells.
func (r *benching) open(settings []bench.Setting) error {
	ctx, cancel := r.limited()
	defer cancel()
	opts, err := modelOptions(r.c, r.streams)
	if err != nil {
		return err
	}
	for _, s := range settings {
		if r.models[s.Threads] != nil {
			continue
		}
		opts.Runtime.Threads = s.Threads
		m, err := model.Open(ctx, r.c.String("model"), opts)
		if err != nil {
			if r.c.Context.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("bench: --max-time %v is over before the model is open: give more", r.c.Duration("max-time"))
			}
			return err
		}
		r.models[s.Threads] = m
		r.facts = m.Facts()
		if r.facts.Family == "world" {
			for _, flag := range []string{"runtime", "threads", "offline"} {
				if given(r.c, flag) {
					return usagef("--%s: a world is a table, which needs no runtime", flag)
				}
			}
		}
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

// run runs the cells and prints.
func (r *benching) run() error {
	if !r.c.IsSet("seed") {
		r.streams.notice(fmt.Sprintf("seed %d", r.settings.Seed))
	}
	cfg := bench.Config{
		Repetitions: r.settings.Repetitions, Sequences: r.settings.Sequences, Warmup: r.settings.Warmup, Seed: r.settings.Seed, Deadline: r.deadline,
	}
	if r.tokenizer != nil {
		cfg.Text = func(ids []int) error {
			_, err := text(r.tokenizer, ids, r.facts.MaskID)
			return err
		}
	}
	bar := newBar(r.streams.err, len(r.cells)*cfg.Repetitions, true, "measuring", "repetitions")
	cfg.OnRepetition = func(bench.Repetition) error {
		bar.add(1)
		return nil
	}
	reps, complete, err := bench.Run(r.c.Context, r.cells, cfg)
	bar.clear()
	interrupted := r.c.Context.Err() != nil
	if err != nil && !interrupted {
		return &bareError{err}
	}
	r.settings.PeakScope = bench.PeakScope()
	report := bench.Summarise(r.cells, reps, r.settings, func(c *bench.Cell) int {
		if d, ok := c.Model.(model.Describer); ok {
			return d.Origin().Threads
		}
		return cmp.Or(c.Setting.Threads, 1)
	})
	report.Complete, report.Interrupted = complete, interrupted
	report.Provenance = newProvenance(r.cells[0].Model, r.tokenizer)
	if err := r.print(&report); err != nil {
		return err
	}
	return r.c.Context.Err()
}
