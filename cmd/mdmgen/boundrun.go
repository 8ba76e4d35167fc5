package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/likelihood"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/tokenize"
)

// network runs the modes that have a network.
func (r *bounding) network(m model.Model, e *likelihood.Evaluator) error {
	c, set := r.c, &r.settings
	seed := c.Uint64("seed")
	if !c.IsSet("seed") {
		seed = rand.Uint64() >> 11
	}
	set.Seed, set.Confidence, set.Batch = &seed, c.Float64("confidence"), c.Int("batch")
	cfg := bound.Config{Cases: r.cases, Draws: c.Int("draws"), Seed: seed, Confidence: set.Confidence}
	if c.String("q0") == "own" {
		target, err := r.canvas(m.Facts())
		if err != nil {
			return err
		}
		cfg.Draws, cfg.Plans = cmp.Or(c.Int("draws"), boundWindows), cmp.Or(c.Int("plans"), boundPlans)
		set.Draws, set.Plans, set.Samplers = cfg.Draws, cfg.Plans, nil
		return r.run(m, nil, cfg.Draws, cfg, func(cfg bound.Config) (bound.Report, error) {
			return bound.Own(c.Context, e, target, cfg)
		})
	}
	if c.IsSet("q0") {
		target, err := r.canvas(m.Facts())
		if err != nil {
			return err
		}
		cfg.Draws = cmp.Or(c.Int("draws"), boundWindows)
		set.Draws = cfg.Draws
		return r.run(m, nil, 2*cfg.Draws, cfg, func(cfg bound.Config) (bound.Report, error) {
			return bound.Chain(c.Context, m, e, target, cfg)
		})
	}
	in := &scoring{c: c, streams: r.streams, model: m, facts: m.Facts(), evaluator: e, short: true, most: cmp.Or(c.Int("windows"), boundWindows)}
	if in.facts.TimeConditioned {
		in.shortLength = boundTimedLength
	}
	if err := in.findTokenizer(); err != nil {
		return err
	}
	in.settings.As = in.inputKind()
	if err := in.prepareWindows(); err != nil {
		return err
	}
	set.As, set.Join, set.Context, set.Frame, set.Tail = in.settings.As, c.Bool("join"), c.Int("context"), c.String("frame"), c.String("tail")
	set.Length, set.Stride, set.Windows, set.Text = in.settings.Length, in.settings.Stride, len(in.windows), textDigest(in.windows)
	var targets []likelihood.Target
	var cluster []int
	long := c.IsSet("plans")
	for _, w := range in.windows {
		targets = append(targets, w.Target)
		if in.overlaps {
			cluster = append(cluster, w.document)
		}
		long = long || len(w.Free) > likelihood.MaxFree
	}
	cfg.Draws = cmp.Or(cfg.Draws, bound.CheckDraws(e, targets))
	work, total := r.exactly(m, e, targets, cluster), len(targets)+cfg.Draws
	if long {
		if c.IsSet("draws") {
			if err := leaveOut(c, usagef("--draws: windows of more than %d positions have no exact values, and no normalisation", likelihood.MaxFree), "draws"); err != nil {
				return err
			}
		}
		cfg.Draws, cfg.Plans, total = 0, cmp.Or(c.Int("plans"), boundPlans), len(targets)
		work = func(cfg bound.Config) (bound.Report, error) {
			return bound.Long(c.Context, m, e, targets, cluster, cfg)
		}
	}
	set.Draws, set.Plans = cfg.Draws, cfg.Plans
	return r.run(m, in.tokenizer, total, cfg, work)
}

func (r *bounding) exactly(m model.Model, e *likelihood.Evaluator, ts []likelihood.Target, cluster []int) func(bound.Config) (bound.Report, error) {
	return func(cfg bound.Config) (bound.Report, error) {
		return bound.Text(r.c.Context, m, e, ts, cluster, cfg)
	}
}

// canvas is what --q0 samples: all of it, but where the network predicts a position from
// the one before it.
func (r *bounding) canvas(f facts.Facts) (likelihood.Target, error) {
	n := r.settings.Length
	switch {
	case f.FixedLength && r.c.IsSet("length") && n != f.Length:
		return likelihood.Target{}, usagef("--length %d: the model takes canvases of exactly %d positions", n, f.Length)
	case f.FixedLength:
		n = f.Length
	case n > f.Length:
		return likelihood.Target{}, usagef("--length %d: the model takes canvases of at most %d positions", n, f.Length)
	}
	own := r.c.String("q0") == "own"
	if n > likelihood.MaxFree && !own {
		return likelihood.Target{}, usagef("--length %d: exact values take 2^%d network rows a sample, and more than 2^%d are not taken", n, n, likelihood.MaxFree)
	}
	if f.Shift {
		return likelihood.Target{}, usagef("--q0: the network predicts position l from row l−1, and has no row for the first")
	}
	r.settings.Length = n
	return likelihood.Whole(make([]int, n)), nil
}

// run works with a progress line and prints.
func (r *bounding) run(m model.Model, t *tokenize.Tokenizer, total int, cfg bound.Config, work func(bound.Config) (bound.Report, error)) error {
	if !r.c.IsSet("seed") {
		r.streams.notice(fmt.Sprintf("seed %d", cfg.Seed))
	}
	bar := newBar(r.streams, total, true, "working out", "windows")
	cfg.Done = bar.add
	return r.work(m, t, func() (bound.Report, error) {
		defer bar.clear()
		return work(cfg)
	})
}
