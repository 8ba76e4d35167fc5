package generate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model/ort"
	"mdmgen/samplers"
)

// sample samples and prints, or writes a part. After an interrupt it prints the finished samples and
// returns the interrupt as the error.
func (g *generation) sample() error {
	kept, err := g.keep()
	if err != nil {
		return err
	}
	kept.Unit, kept.Units = "sample", g.next
	from, to := kept.Range()
	free := 0
	for _, j := range g.jobs {
		free += max(0, min(j.first+j.N, to*g.chunkSize())-max(j.first, from*g.chunkSize())) * len(g.free(j.Tokens))
	}
	shown := free
	if g.watched != nil && g.watched.screen != nil {
		shown = 0 // The canvases show the progress.
	}
	bar := kit.NewBar(g.streams, shown, "sampling", "tokens")
	var all *results // nil for a part, which prints nothing
	var print *printer
	if !g.chunks.Given() {
		print = g.printer()
		all = newResults(kit.NewProvenance(g.network, g.words), g.printing(), print)
	}
	return chunks.Do(g.ctx, kept, g.streams, bar, chunks.Work[chunk]{
		Compute: func(i int) (chunk, error) {
			c, err := g.work(kept, i, bar, print)
			if err != nil {
				err = errors.Join(err, all.take(c))
			}
			return c, err
		},
		Count: func(_ int, c chunk, before bool) int {
			if before {
				return c.Sums.Tokens
			}
			return 0 // They are counted one by one.
		},
		Take: func(_ int, c chunk, _ bool) error { return all.take(c) },
		End: func(err error) error {
			g.watched.hide()
			return g.end(all, err)
		},
	})
}

// end prints the finished samples. err is the error that ended the sampling, or nil.
func (g *generation) end(all *results, err error) error {
	all.record.Interrupted = err != nil
	failed := err != nil && !errors.Is(err, context.Canceled)
	if !failed || all.record.Totals.Samples > 0 {
		err = kit.Ended(err, all.finish())
	}
	if err == nil && g.format == "text" { // Records have the seed, and ids are for programs.
		g.streams.Notice(g.summary(all.record.Totals))
		return nil
	}
	if err != nil && exit.Message(err) == "" {
		return err // The reader went away.
	}
	g.sampler.ShowSeed(g.streams, g.settings.Seed)
	switch {
	case !failed:
		return err
	case errors.As(err, new(*ort.MemoryError)):
		return g.noRoom()
	}
	return fmt.Errorf("generate: %w", fault.WithoutName(err))
}

// noRoom returns the error for a call that does not fit in memory.
func (g *generation) noRoom() error {
	longest := 0
	for _, j := range g.jobs {
		longest = max(longest, len(j.Tokens))
	}
	return fmt.Errorf("generate: not enough memory for a call of %s of %s: lower --batch or --length, or choose a smaller --dtype",
		english.Plural(g.settings.Batch, "canvas", "canvases"), english.Plural(longest, "position", ""))
}

// summary returns a line about the cost of the samples.
func (g *generation) summary(t totals) string {
	parts := []string{english.Plural(t.NetworkCalls, "network call", "")}
	if t.Cache != nil && t.Cache.Audit != nil {
		parts[0] += " with the audit's"
	}
	parts = t.Cache.tell(appendAudit(parts, "groups cost", t.Audit))
	return strings.Join(append(parts, fmt.Sprintf("%.3g s", t.Seconds.Total), fmt.Sprintf("seed %d", g.settings.Seed)), ", ")
}

// free returns the masked positions of a canvas.
func (g *generation) free(canvas []int) []int {
	spec := g.network.Spec()
	return spec.Masked(canvas)
}

// sequences yields the samples from..to that are not done, grouped by canvas length. A line with a
// seed of its own gets the samples that the seed gives on its own.
func (g *generation) sequences(from, to int, done map[int]bool) iter.Seq[samplers.Sequence] {
	var canvases []samplers.Sequence
	for i := from; i < to; {
		j := g.at(i)
		canvases = append(canvases, samplers.Sequence{Index: uint64(i), Stream: uint64(i - j.first), Canvas: j.Tokens, Method: j.Sampler, Seed: j.Seed})
		i = j.first + j.N
	}
	return func(yield func(samplers.Sequence) bool) {
		for s := range samplers.ByLength(canvases) {
			j := g.at(int(s.Index))
			for range min(j.first+j.N, to) - int(s.Index) {
				if !done[int(s.Index)] && !yield(s) {
					return
				}
				s.Index++
				s.Stream++
			}
		}
	}
}
