package generate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
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
	print := newPrinter(g.format, out, g.facts.MaskID)
	record := Record{Schema: Schema, Provenance: kit.NewProvenance(g.network, g.words), Settings: g.settings}

	free := 0
	for _, j := range g.jobs {
		free += j.n * len(g.free(j.Canvas))
	}
	// The results are a display of their own where they stream to a terminal.
	bar := kit.NewProgress(g.streams, free, !out.Streaming() || !kit.IsTerminal(g.streams.Out) || g.total() == 1)
	cfg := samplers.Config{
		Method: g.method, Seed: g.settings.Seed, Batch: g.settings.Batch,
		OnStep: func(s samplers.Step) { bar.Add(s.Filled) },
		// One sample that cannot be made is no reason to make none.
		OnFault: func(index uint64, err error) error {
			record.Faults = append(record.Faults, failure{int(index), g.at(int(index)).Line, fault.Plain(err)})
			return nil
		},
	}
	begin := time.Now()
	sums, err := samplers.Sample(g.ctx, g.network, g.sequences(), cfg, func(r samplers.Result) error {
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
		g.tellSeed()
		return fmt.Errorf("generate: %w", fault.WithoutName(err))
	}
	record.Totals = newTotals(sums, total)
	record.Interrupted = interrupted
	if slices.ContainsFunc(g.jobs, func(j job) bool { return j.method.Simulates() }) {
		record.Totals.Events = &sums.Events
	}
	if err := print.finish(record); err != nil {
		g.tellSeed()
		return err
	}
	switch {
	case err == nil && len(record.Faults) > 0:
		err = fmt.Errorf("generate: %d of %d samples could not be made: %s", len(record.Faults), g.total(), record.Faults[0].Error)
		fallthrough
	case err != nil:
		g.tellSeed()
		return err
	}
	if g.format != "text" { // Records tell all that, and ids are for programs.
		g.tellSeed()
		return nil
	}
	g.streams.Notice(g.summary(record.Totals, free))
	return nil
}

// tellSeed tells a seed that nobody gave, where nothing else does.
func (g *generation) tellSeed() {
	if g.sampler.Seed == nil {
		g.streams.Notice(fmt.Sprintf("seed %d", g.settings.Seed))
	}
}

// summary says in a line what the samples took, and what to try next. free is the number of positions in all.
func (g *generation) summary(t totals, free int) string {
	parts := []string{english.Plural(t.NetworkCalls, "network call", "")}
	if t.Events != nil {
		parts = append(parts, english.Plural(*t.Events, "event", ""))
	}
	out := strings.Join(append(parts, fmt.Sprintf("%.3g s", t.Seconds.Total), fmt.Sprintf("seed %d", g.settings.Seed)), ", ")
	each := free / g.total()
	switch {
	case g.input != "" || g.chat != "":
	case g.prefix == "" && g.suffix == "" && g.infill == "":
		out += "; try --prefix TEXT for a beginning of your own"
	case g.settings.Sampler == "fhs" && each >= 8:
		out += fmt.Sprintf("; try --sampler parallel-fhs --steps %d for fewer calls", each/4)
	}
	return out
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

// sequences yields the samples of each canvas, canvases of one length together. A line with a
// seed of its own has the samples that this seed gives alone.
func (g *generation) sequences() iter.Seq[samplers.Sequence] {
	canvases := make([]samplers.Sequence, len(g.jobs))
	for i, j := range g.jobs {
		canvases[i] = samplers.Sequence{Index: uint64(j.first), Canvas: j.Canvas, Method: j.method, Seed: j.Own.Seed}
	}
	return func(yield func(samplers.Sequence) bool) {
		for s := range samplers.ByLength(canvases) {
			for range g.at(int(s.Index)).n {
				if !yield(s) {
					return
				}
				s.Index++
				s.Stream++
			}
		}
	}
}

// sample turns a result into what is printed of it.
func (g *generation) sample(r samplers.Result) (sample, error) {
	j := g.at(int(r.Index))
	s := sample{Index: int(r.Index), Line: j.Line, Seed: j.Own.Seed, IDs: make([]*int, len(r.IDs)), Calls: r.Calls, FinishCalls: r.FinishCalls, Left: r.Left}
	set := j.method.Settings()
	if j.method != g.method {
		s.Settings = &set
	}
	if j.method.Simulates() {
		s.Events = &r.Events
	}
	s.RuleCalls = r.RuleCalls
	if set.Lookahead > 0 || j.method.Canvases() > 1 {
		s.Rounds, s.Rows = r.Calls+r.FinishCalls, r.Rows
	}
	for i, id := range r.IDs {
		if id != g.facts.MaskID {
			s.IDs[i] = &r.IDs[i]
		}
	}
	if g.words != nil {
		t, err := canvas.Text(g.words, g.answer(r.IDs, j.Prompt), g.facts.MaskID)
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
