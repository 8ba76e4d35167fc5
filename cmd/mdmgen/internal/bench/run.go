package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/requests"
)

// readSettings sets the deadline and the settings of the run from the flags.
func (r *benching) readSettings() {
	if limit := r.maxTime; limit > 0 {
		r.deadline = r.begin.Add(limit - min(limit/10, time.Second)) // The rest is for writing the results.
	}
	r.settings = bench.RunSettings{
		Sequences: r.n, Repetitions: r.repeat, Warmup: r.warmup, Calls: r.calls, Seed: r.chunks.SeedOf(Schema, r.sampler.Seed, setup.SeedOr(r.sampler.Seed)),
		MaxSeconds: r.maxTime.Seconds(), Confidence: r.confidence, Prefix: r.prefix,
	}
}

// limited returns the command's context with the deadline.
func (r *benching) limited() (context.Context, context.CancelFunc) {
	if r.deadline.IsZero() {
		return r.ctx, func() {}
	}
	return context.WithDeadline(r.ctx, r.deadline)
}

// open opens a network for each number of threads and makes the cells.
func (r *benching) open(settings []bench.Setting) error {
	ctx, cancel := r.limited()
	defer cancel()
	opts, err := r.model.Options(r.ctx, r.streams, r.all)
	if err != nil {
		return err
	}
	for _, s := range settings {
		if r.models[s.Threads] != nil {
			continue
		}
		opts.Runtime.Threads = s.Threads
		m, err := r.streams.Open(ctx, r.model.Ref, opts)
		if m != nil {
			r.models[s.Threads] = m
		}
		if err != nil {
			return r.late(ctx, err)
		}
		r.facts = m.Facts()
	}
	if err := setup.Fit(r.words, r.facts); err != nil {
		return err
	}
	for i := range settings { // before their calls are counted
		if err := r.sampler.Fit(ctx, r.streams, r.models[settings[i].Threads], &settings[i].Options, nil); err != nil {
			return r.late(ctx, err)
		}
	}
	r.settings.Profile = r.sampler.Profile.Digest()
	if settings, err = r.atCalls(settings); err != nil {
		return err
	}
	for _, s := range settings {
		ids, err := r.canvas(s.Length)
		if err != nil {
			return err
		}
		if err := r.sampler.Fit(ctx, r.streams, r.models[s.Threads], &s.Options, ids); err != nil {
			return r.late(ctx, err)
		}
		cell, err := bench.NewCell(s, r.models[s.Threads], ids, min(setup.BatchOf(r.facts), r.settings.Sequences))
		if err == nil {
			r.cells = append(r.cells, cell)
		} else if err := r.leave(s, r.models[s.Threads].Spec(), err); err != nil {
			return err
		}
	}
	return r.left(len(r.cells))
}

// late returns the error of a run that ends before anything is measured.
func (r *benching) late(ctx context.Context, err error) error {
	if r.ctx.Err() == nil && ctx.Err() != nil {
		return r.early()
	}
	return err
}

func (r *benching) early() error {
	return fmt.Errorf("bench: --max-time %v is too short to measure anything: give more", r.maxTime)
}

// canvas returns the initial canvas of the sequences.
func (r *benching) canvas(length int) ([]int, error) {
	if r.prefix != "" && r.words == nil {
		return nil, exit.Missingf("a text to begin from needs a tokenizer: give one with --tokenizer")
	}
	c, err := requests.Layout{Facts: r.facts, Words: requests.WordsOf(r.words), Length: requests.Length{Total: length}}.Canvas(requests.Request{Prefix: &r.prefix})
	if err != nil {
		return nil, r.all.Refuse("bench", err)
	}
	if r.facts.Causal && r.prefix == "" {
		c.Tokens[0] = setup.First(r.words, r.facts)
	}
	if r.facts.Shift && r.prefix == "" {
		return nil, exit.Usagef("bench: the network predicts position l from row l−1: give the first token with --prefix")
	}
	return c.Tokens, nil
}

// work runs the cells, measures quality and prints.
func (r *benching) work() error {
	if err := r.measure(); err != nil {
		return err
	}
	r.sampler.ShowSeed(r.streams, r.settings.Seed)
	for i := range r.cells {
		if err := r.failed[r.cells[i].ID]; err != nil {
			r.fail(r.cells[i].ID, err)
		}
	}
	report := r.report()
	if !report.Complete {
		r.kept.Unfinished()
	}
	if err := errors.Join(r.drawings(&report), r.writeReport(&report), r.streams.Results.Finish(report.Interrupted)); err != nil {
		return err
	}
	if err := r.ctx.Err(); err != nil || len(r.faults) == 0 {
		return err
	}
	more := ""
	if n := len(r.faults) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more, named in the results)", n)
	}
	return fmt.Errorf("bench: %s%s", r.faults[0], more)
}

// measure makes the missing measurements. With a time limit, repetitions get half of the time, and
// each further job an equal share of the rest: first the measurements that cells share, then the
// missing repetitions, then the parts of quality of each cell. An interrupt is not an error here.
func (r *benching) measure() error {
	jobs := []func(context.Context) error{r.repetitions}
	if r.look.has(bench.PartError) {
		jobs = append(jobs, r.samplingErrors)
	}
	if r.look.has(bench.PartCertificate) {
		jobs = append(jobs, r.certificates)
	}
	if len(jobs) > 1 || slices.ContainsFunc(cellParts, r.look.has) {
		jobs = append(jobs, r.repetitions)
	}
	for _, part := range cellParts {
		if r.look.has(part) {
			jobs = append(jobs, func(ctx context.Context) error { return r.judgeCells(ctx, part) })
		}
	}
	all, cancel := r.limited()
	defer cancel()
	for i, job := range jobs {
		left := len(jobs) - i
		if i == 0 {
			left = min(left, 2)
		}
		ctx, cancel := bench.Share(all, left)
		err := job(ctx)
		cancel()
		if err != nil && r.ctx.Err() == nil {
			return err
		}
	}
	if r.maxTime > 0 && r.ctx.Err() == nil && len(r.failed)+len(r.faults)+len(r.log.Repetitions)+len(r.log.Errors)+len(r.log.Certified) == 0 {
		return r.early()
	}
	return nil
}

// repetitions runs the missing repetitions of the cells.
func (r *benching) repetitions(ctx context.Context) error {
	bar := kit.NewBar(r.streams, len(r.cells)*r.settings.Repetitions-len(r.log.Repetitions), "measuring", "repetitions")
	defer bar.Clear()
	deadline, _ := ctx.Deadline()
	err := bench.Run(r.ctx, r.cells, bench.Config{
		Repetitions: r.settings.Repetitions, Sequences: r.settings.Sequences, Warmup: r.settings.Warmup, Seed: r.settings.Seed,
		Deadline: deadline, Keep: r.look.has(bench.PartText) || r.look.has(bench.PartNELBO) || r.look.has(bench.PartEvaluator), KeepBytes: setup.KeepBytes(0), Done: r.log.Repetitions, Failed: r.failed,
		OnRepetition: func(rep bench.Repetition) error {
			bar.Add(1)
			r.log.Repetitions = append(r.log.Repetitions, rep)
			return r.keep(rep)
		},
	})
	if err != nil {
		return fmt.Errorf("bench: %w", fault.WithoutName(err))
	}
	return nil
}

// fail records that something could not be measured. Other measurements continue.
func (r *benching) fail(what string, err error) {
	r.faults = append(r.faults, what+" failed: "+fault.Spell(fault.WithoutName(err), r.all.Spell))
}
