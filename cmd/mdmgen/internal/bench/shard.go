package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
)

// ShardSchema names the layout of the parts that bench's --shard writes: a chunk has the records of
// a cell, the last one those that cells share.
const ShardSchema = "mdmgen.bench-cells-resume/4"

// cellChunk is the result of a chunk.
type cellChunk struct {
	Records []json.RawMessage `json:"records"`
}

// checkShard refuses what a part of a run cannot do.
func (o *options) checkShard(s kit.Streams) error {
	if err := o.chunks.Check(s, o.all, o.output, o.sampler.Seed != nil); err != nil {
		return err
	}
	if o.chunks.Given() {
		o.partPath, o.output = o.output, ""
	}
	return o.chunks.Whole(o.all, "max-time", "html", "plots")
}

// chunkCount returns one for each cell, and one for what they share.
func (r *benching) chunkCount() int {
	if r.look.errors != nil || r.look.certificates != nil {
		return len(r.cells) + 1
	}
	return len(r.cells)
}

// openChunks opens the file of a part, or the parts that are merged.
func (r *benching) openChunks() (*chunks.Checkpoint, error) {
	made := kit.NewProvenance(r.cells[0].Model, r.words)
	return r.chunks.Open(r.streams, chunks.Header{
		Identity: kit.NewIdentity(ShardSchema, made, r.settings.Seed, r.header()), Chunks: r.chunkCount(), Part: chunks.Part{Provenance: made},
	}, r.partPath)
}

// shard computes the cells of a part.
func (r *benching) shard() error {
	kept, err := r.openChunks()
	if err != nil {
		return err
	}
	defer kept.Close()
	return kept.Part(r.ctx, r.streams, func() error {
		return chunks.Each(r.ctx, kept, r.cellChunk, func(int, cellChunk, bool) error { return nil })
	})
}

// cellChunk computes a chunk: a run of one cell, or of what cells share.
func (r *benching) cellChunk(i int) (out cellChunk, err error) {
	one := *r
	one.log, one.failed, one.collect = bench.Log{}, make(map[string]error), &out.Records
	if i < len(r.cells) {
		one.cells, one.look.errors, one.look.certificates = r.cells[i:i+1], nil, nil
	} else {
		one.cells, one.look.parts = nil, nil
	}
	if err := one.measure(); err != nil {
		return out, err
	}
	for _, err := range one.failed {
		return out, failed(err)
	}
	if len(one.faults) > 0 {
		return out, failed(fault.Errorf("bench", "%s", one.faults[0]))
	}
	return out, r.ctx.Err()
}

// Merge prints the results of parts as one process would have: by a run that takes its records from
// them, which opens the model and calls it never.
func Merge(ctx context.Context, s kit.Streams, p *chunks.Parts, format string) error {
	o := &options{}
	if _, err := p.Settings(&o.chunks, o.flags(), format); err != nil {
		return err
	}
	if err := o.check(s); err != nil {
		return err
	}
	return run(ctx, s, o)
}

// take reads the records of parts, in the order in which one process makes them.
func (r *benching) take() error {
	parts, err := r.openChunks()
	if err != nil {
		return err
	}
	defer parts.Close()
	if err := chunks.Each(r.ctx, parts, r.cellChunk, func(_ int, c cellChunk, _ bool) error {
		for _, record := range c.Records {
			if err := r.log.Read(record); err != nil {
				return failed(err)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := r.checkLog(); err != nil {
		return exit.Usagef("merge: %s", fault.Plain(err))
	}
	cells := make(map[string]int)
	for i := range r.cells {
		cells[r.cells[i].ID] = i
	}
	slices.SortStableFunc(r.log.Repetitions, func(a, b bench.Repetition) int {
		if a.Round != b.Round {
			return a.Round - b.Round
		}
		order := bench.Order(r.settings.Seed, a.Round, len(r.cells))
		return slices.Index(order, cells[a.Cell]) - slices.Index(order, cells[b.Cell])
	})
	slices.SortStableFunc(r.log.Quality, func(a, b bench.Quality) int {
		return cmp.Or(slices.Index(cellParts, a.Part)-slices.Index(cellParts, b.Part), cells[a.Cell]-cells[b.Cell])
	})
	return nil
}
