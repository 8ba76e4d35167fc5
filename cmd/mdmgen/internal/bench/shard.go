package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/journal"
)

// ShardSchema names the layout of the parts that bench's --shard writes: a chunk holds the
// records of a cell, the last one those of what cells have together.
const ShardSchema = "mdmgen.bench-cells-resume/3"

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
	// The files of -o are of the whole run, and a plan has one text.
	if err := o.all.Exclude([2]string{"plan", "output"}); err != nil {
		return err
	}
	return o.chunks.Whole(o.all, "max-time", "html", "plots")
}

// chunkCount is one for each cell, and one for what they have together.
func (r *benching) chunkCount() int {
	if r.look.errors != nil || r.look.certificates != nil {
		return len(r.cells) + 1
	}
	return len(r.cells)
}

// plan tells what the run would take: its repetitions by the first cell's time for a row, and
// not what --quality asks for.
func (r *benching) plan() error {
	p := chunks.Plan{Provenance: kit.NewProvenance(r.cells[0].Model, r.words), Chunks: r.chunkCount()}
	calls, known, per := 0.0, true, float64(r.settings.Sequences*(r.settings.Repetitions))
	for i := range r.cells {
		c := &r.cells[i]
		each := c.Law.All()
		if math.IsNaN(each) {
			each, known = float64(c.Free), false
		}
		calls += per * each
		p.MostCalls += per * float64(c.Free)
	}
	if known {
		p.Calls = &calls
	}
	one := *r
	one.cells, one.settings.Repetitions, one.settings.Warmup, one.collect, one.failed = r.cells[:1], 1, 0, new([]json.RawMessage), make(map[string]error)
	rows := 0
	seconds, err := chunks.Timed(func() error {
		one.log = bench.Log{}
		_, err := one.repetitions(one.config())
		for _, rep := range one.log.Repetitions {
			rows = rep.Rows
		}
		return err
	})
	if err != nil {
		return err
	}
	p.Seconds = seconds / float64(max(rows, 1)) * calls
	var seed []string
	if r.sampler.Seed == nil {
		seed = append(seed, fmt.Sprintf("--seed=%d", r.settings.Seed))
	}
	out, err := kit.NewResults(r.ctx, "", r.streams.Out)
	if err != nil {
		return err
	}
	return p.Print(&r.chunks, r.streams, out, r.format, seed...)
}

// shard works out the cells of a part.
func (r *benching) shard() error {
	made := kit.NewProvenance(r.cells[0].Model, r.words)
	kept, err := r.chunks.Open(r.streams, chunks.Header{
		Identity: kit.NewIdentity(ShardSchema, made, r.settings.Seed, r.header()), Chunks: r.chunkCount(), Part: chunks.Part{Provenance: made},
	}, r.partPath)
	if err != nil {
		return err
	}
	defer kept.Close()
	return kept.Part(r.ctx, r.streams, func() error {
		return chunks.Each(r.ctx, kept, r.cellChunk, func(int, cellChunk, bool) error { return nil })
	})
}

// cellChunk works out a chunk: it is a run of one cell, or of what cells have together.
func (r *benching) cellChunk(i int) (out cellChunk, err error) {
	one := *r
	one.log, one.failed, one.collect = bench.Log{}, make(map[string]error), &out.Records
	if i < len(r.cells) {
		one.cells, one.look.errors, one.look.certificates = r.cells[i:i+1], nil, nil
		if _, err := one.repetitions(one.config()); err != nil {
			return out, err
		}
		if err := one.failed[one.cells[0].ID]; err != nil {
			return out, failed(err)
		}
	} else {
		one.look.parts = nil
	}
	if _, err := one.measure(); err != nil {
		return out, err
	}
	if len(one.faults) > 0 {
		return out, failed(fault.Errorf("bench", "%s", one.faults[0]))
	}
	return out, r.ctx.Err()
}

// Merge prints the results of parts as one process would have: by a run that finds all of its
// records in a journal, which opens the model and asks it nothing.
func Merge(ctx context.Context, s kit.Streams, p *chunks.Parts, format string, out *kit.Output) error {
	if len(p.Mixture) > 0 {
		return exit.Usagef("merge: --force: the times of bench are of one kind of machine")
	}
	var h struct {
		kit.Identity
		Settings json.RawMessage `json:"settings"`
	}
	if err := p.Header(&h); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mdmgen-merge-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "records.jsonl")
	var cells struct {
		Cells []string `json:"cells"`
	}
	if err := json.Unmarshal(h.Settings, &cells); err != nil {
		return exit.Usagef("merge: the parts' header: %w", err)
	}
	run := h.Identity
	run.Schema, run.Settings = resumeSchema, h.Settings
	if err := collect(p, path, run, cells.Cells); err != nil {
		return err
	}
	return p.Again(ctx, s, (&options{}).flags(), 0, path, format, out)
}

// collect writes the records of parts into a journal, in the order in which one process makes
// them.
func collect(p *chunks.Parts, path string, run kit.Identity, cells []string) error {
	var all []sorted
	orders := make(map[int][]int)
	if err := chunks.EachOf(p, func(_ int, c cellChunk) error {
		for _, r := range c.Records {
			s := sorted{record: r}
			if err := json.Unmarshal(r, &s); err != nil {
				return exit.Usagef("merge: a record: %w", err)
			}
			at := slices.Index(cells, s.Cell)
			switch s.Kind {
			case bench.KindRepetition:
				if orders[s.Round] == nil {
					orders[s.Round] = bench.Order(run.Seed, s.Round, len(cells))
				}
				s.place = [3]int{0, s.Round, slices.Index(orders[s.Round], at)}
			case bench.KindQuality:
				s.place = [3]int{2, slices.Index(cellParts, s.Part), at}
			default:
				s.place = [3]int{1, 0, 0}
			}
			all = append(all, s)
		}
		return nil
	}); err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b sorted) int { return slices.Compare(a.place[:], b.place[:]) })
	j, err := journal.Open(path, run.Schema)
	if err != nil {
		return err
	}
	defer j.Close()
	if err := j.Begin(run); err != nil {
		return err
	}
	records := make([]any, len(all))
	for i, s := range all {
		records[i] = s.record
	}
	return j.Append(records...)
}

// sorted is a record with what says where it stands among the others.
type sorted struct {
	Kind  string `json:"kind"`
	Cell  string `json:"cell"`
	Round int    `json:"round"`
	Part  string `json:"part"`

	record json.RawMessage
	place  [3]int
}
