package generate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/dustin/go-humanize/english"

	"mdmgen/internal/cli/canvas"
	"mdmgen/internal/cli/kit"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
)

// run samples and prints. After an interrupt what is finished is printed, and
// the interrupt is the error.
func (g *generation) run(out *kit.Output) error {
	if g.sampler.Seed == nil {
		g.streams.Notice(fmt.Sprintf("seed %d", g.settings.Seed))
	}
	if t := g.words; t != nil && t.Size() > g.facts.Columns {
		g.streams.Notice(fmt.Sprintf("the tokenizer has %d tokens, the model's rows %d: is it the model's own?", t.Size(), g.facts.Columns))
	}
	n := g.n
	print := newPrinter(g.format, out, g.facts.MaskID)
	record := Record{Schema: Schema, Provenance: kit.NewProvenance(g.network, g.words), Settings: g.settings}

	free := 0
	for _, j := range g.jobs {
		free += n * len(g.free(j.Canvas))
	}
	// The results are a display of their own where they stream to a terminal.
	bar := kit.NewProgress(g.streams, free, !out.Streaming() || !kit.IsTerminal(g.streams.Out) || len(g.jobs)*n == 1)
	cfg := samplers.Config{
		Method: g.method, Seed: g.settings.Seed, Batch: g.settings.Batch,
		OnStep: func(s samplers.Step) { bar.Add(len(s.Tokens)) },
		// One sample that cannot be made is no reason to make none.
		OnFault: func(index uint64, err error) error {
			record.Faults = append(record.Faults, failure{int(index), g.jobs[int(index)/n].Line, fault.Plain(err)})
			return nil
		},
	}
	begin := time.Now()
	sums, err := samplers.Sample(g.ctx, g.network, g.sequences(n), cfg, func(r samplers.Result) error {
		s, err := g.sample(r)
		if err != nil {
			return err
		}
		return print.add(s)
	})
	total := time.Since(begin)
	bar.Clear()
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		// What is finished is shown; a file is not made of a part.
		if ferr := out.Finish(true); !errors.Is(err, ferr) {
			err = errors.Join(ferr, err)
		}
		return fmt.Errorf("generate: %w", fault.WithoutName(err))
	}
	record.Totals = newTotals(sums, total)
	record.Interrupted = interrupted
	if _, ok := g.method.ExpectedEvents(free); ok {
		record.Totals.Events = &sums.Events
		g.streams.Notice(english.Plural(sums.Events, "event", "") + ", " + english.Plural(sums.Calls, "call", ""))
	}
	if err := print.finish(record); err != nil {
		return err
	}
	if err == nil && len(record.Faults) > 0 {
		err = fmt.Errorf("generate: %d of %d samples could not be made: %s", len(record.Faults), len(g.jobs)*n, record.Faults[0].Error)
	}
	return err
}

// free lists the positions to be sampled of a canvas.
func (g *generation) free(canvas []int) []int {
	var free []int
	for l, id := range canvas {
		if id == g.facts.MaskID {
			free = append(free, l)
		}
	}
	return free
}

// sequences yields n sequences of each canvas, canvases of one length together:
// sequence k of canvas i has index i·n+k.
func (g *generation) sequences(n int) iter.Seq[samplers.Sequence] {
	canvases := make([]samplers.Sequence, len(g.jobs))
	for i, j := range g.jobs {
		canvases[i] = samplers.Sequence{Index: uint64(i * n), Canvas: j.Canvas}
	}
	return func(yield func(samplers.Sequence) bool) {
		for s := range samplers.ByLength(canvases) {
			for range n {
				if !yield(s) {
					return
				}
				s.Index++
			}
		}
	}
}

// sample turns a result into what is printed of it.
func (g *generation) sample(r samplers.Result) (sample, error) {
	s := sample{Index: int(r.Index), Line: g.jobs[int(r.Index)/g.n].Line, IDs: make([]*int, len(r.IDs)), Calls: r.Calls, FinishCalls: r.FinishCalls, Left: r.Left}
	if _, ok := g.method.ExpectedEvents(0); ok {
		s.Events = &r.Events
	}
	s.RuleCalls = r.RuleCalls
	if g.settings.Lookahead > 0 || g.method.Canvases() > 1 {
		s.Rounds, s.Rows = r.Calls+r.FinishCalls, r.Rows
	}
	for i, id := range r.IDs {
		if id != g.facts.MaskID {
			s.IDs[i] = &r.IDs[i]
		}
	}
	if g.words != nil {
		t, err := canvas.Text(g.words, r.IDs, g.facts.MaskID)
		if err != nil {
			return s, fmt.Errorf("sample %d: %w", r.Index, err)
		}
		s.Text = &t
	}
	return s, nil
}

// newTotals sums up a run of the given length in time.
func newTotals(t samplers.Totals, total time.Duration) totals {
	rate := func(n int) float64 {
		if total <= 0 {
			return 0
		}
		return float64(n) / total.Seconds()
	}
	return totals{
		Samples: t.Sequences, Calls: t.Calls, FinishCalls: t.FinishCalls, NetworkCalls: t.NetworkCalls, Rows: t.Rows, Tokens: t.Tokens,
		Seconds:         seconds{t.Network.Seconds(), t.Sampling.Seconds(), total.Seconds()},
		TokensPerSecond: tokensPerSecond{rate(t.Tokens), rate(t.Positions)},
	}
}
