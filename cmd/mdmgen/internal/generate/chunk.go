package generate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"mdmgen/analysis/interaction"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model/ort"
	"mdmgen/requests"
	"mdmgen/samplers"
)

// ChunkSchema names the layout of the file of generate's --resume and --shard.
const ChunkSchema = "mdmgen.generate-resume/5"

// chunkBatches is the size of a chunk in full batches. At the end of a chunk the places of finished
// samples stay empty, which costs little if there are many batches.
const chunkBatches = 16

// chunk is the result of a run of samples, in the order in which they finished. The samples are its
// pieces, kept one by one.
type chunk struct {
	Samples []requests.Sample `json:"-"`
	Faults  []failure         `json:"faults,omitempty"`
	Sums    sums              `json:"sums"`
	// Audits are the audits of the samples, if any.
	Audits []interaction.Terms `json:"audits,omitempty"`
	// pieces are the sums of the samples from a process that did not finish the chunk.
	pieces sums
}

// piece is a finished sample with its costs, except for network calls, which samples share.
type piece struct {
	Sample requests.Sample `json:"sample"`
	Sums   sums            `json:"sums"`
}

// Restore implements [chunks.Pieced].
func (c *chunk) Restore(raw json.RawMessage) error {
	var p piece
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	c.Samples = append(c.Samples, p.Sample)
	c.pieces.add(p.Sums)
	return nil
}

// counts are sums over finished samples, except for NetworkCalls.
type counts struct {
	Samples     int `json:"samples"`
	Calls       int `json:"calls"`
	FinishCalls int `json:"finish_calls"`
	// NetworkCalls counts runs of the network, each on a batch of rows, including those for
	// unfinished samples; Rows counts the canvases in calls, and Positions the positions
	// that they computed.
	NetworkCalls int `json:"network_calls"`
	Rows         int `json:"rows"`
	Positions    int `json:"positions,omitempty"`
	Tokens       int `json:"tokens"`
}

// sums are totals over samples.
type sums struct {
	counts
	// MostKept is the peak memory of a cache, in bytes.
	MostKept int64   `json:"most_kept,omitempty"`
	Seconds  seconds `json:"seconds"`
}

func (a *sums) add(b sums) {
	a.Samples += b.Samples
	a.Calls += b.Calls
	a.FinishCalls += b.FinishCalls
	a.NetworkCalls += b.NetworkCalls
	a.Rows += b.Rows
	a.Positions += b.Positions
	a.Tokens += b.Tokens
	a.MostKept = max(a.MostKept, b.MostKept)
	a.Seconds.Network += b.Seconds.Network
	a.Seconds.Sampling += b.Seconds.Sampling
	a.Seconds.Total += b.Seconds.Total
}

// chunkSize returns the number of samples in a chunk.
func (g *generation) chunkSize() int { return chunkBatches * g.settings.Batch }

// printing holds what printing the results needs in addition to their header.
type printing struct {
	Format   string            `json:"format"`
	Mask     int               `json:"mask"`
	Settings requests.Settings `json:"settings"`
}

// keep opens the file of --resume or --shard. If no seed is given, the file's is used.
func (g *generation) keep() (kept *chunks.Checkpoint, err error) {
	g.settings.Seed = g.chunks.SeedOf(ChunkSchema, g.sampler.Seed, g.settings.Seed)
	// The contents of the canvases matter, not the file that they come from.
	decides := struct {
		requests.Settings
		Canvases string `json:"canvases"`
	}{g.settings, g.digest()}
	decides.Input = ""
	made := kit.NewProvenance(g.network, g.words)
	return g.chunks.Open(g.streams, chunks.Header{
		Identity: kit.NewIdentity(ChunkSchema, made, g.settings.Seed, decides),
		Chunks:   (g.next + g.chunkSize() - 1) / g.chunkSize(),
		Size:     g.chunkSize(),
		Part:     chunks.Part{Provenance: made, Print: g.printing()},
	}, g.output)
}

func (g *generation) printing() printing {
	return printing{g.format, g.facts.MaskID, g.settings}
}

// digest returns "sha256:…" of the canvases and how each is sampled.
func (g *generation) digest() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, j := range g.jobs {
		// Writing to a hash cannot fail, nor can encoding numbers and texts.
		_ = enc.Encode([]any{j.Tokens, j.Prompt, j.line, j.Seed, j.N, j.Sampler.Settings()})
		if j.Patterns != nil {
			_ = enc.Encode(j.Patterns)
		}
		if j.Blanks != nil {
			_ = enc.Encode(j.Blanks)
		}
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil))
}

// work samples those samples of a chunk that are not kept. If print is not nil, it gets each sample
// as it finishes, the kept ones first. After an error the chunk holds the finished samples.
func (g *generation) work(kept *chunks.Checkpoint, i int, bar *kit.Progress, print *printer) (c chunk, err error) {
	if err := kept.Pieces(i, &c); err != nil {
		return c, err
	}
	for _, s := range c.Samples {
		if err := print.add(s); err != nil {
			return c, err
		}
	}
	bar.Add(c.pieces.Tokens)
	from := i * g.chunkSize()
	return c, g.fill(&c, from, min(from+g.chunkSize(), g.next), bar, print, func(p piece) error { return kept.KeepPiece(i, p) })
}

// fill samples those of from..to that are missing in a chunk. keep gets each before it is printed.
func (g *generation) fill(c *chunk, from, to int, bar *kit.Progress, print *printer, keep func(piece) error) error {
	done := make(map[int]bool)
	for _, s := range c.Samples {
		done[s.Index] = true
	}
	begin, last := time.Now(), time.Now()
	var made sums
	under := make(map[uint64]sums) // unfinished samples
	t, err := samplers.Sample(g.ctx, g.network, g.sequences(from, to, done), samplers.Config{
		Method: g.builder.Sampler(), Seed: g.settings.Seed, Batch: g.settings.Batch, Keep: setup.KeepBytes(g.cacheMemory), Store: g.store, Top: g.show.top,
		OnStep: func(s samplers.Step) {
			bar.Add(s.Filled)
			g.watched.step(s, g.at(int(s.Index)).Tokens)
			now := under[s.Index]
			now.Tokens += s.Filled
			now.Positions += s.Computed
			under[s.Index] = now
		},
		// A sample that fails does not stop the others.
		OnFault: func(index uint64, err error) error {
			if errors.As(err, new(*ort.MemoryError)) {
				return err // The others would not fit in memory either.
			}
			c.Faults = append(c.Faults, failure{int(index), g.at(int(index)).line, fault.Plain(err)})
			return print.put(int(index), nil)
		},
	}, func(r samplers.Result) error {
		j := g.at(int(r.Index))
		s, err := requests.Printer{Words: g.words, Mask: g.facts.MaskID}.Sample(&j.Job, r)
		if err != nil {
			return err
		}
		s.Line = j.line
		p := piece{s, under[r.Index]}
		delete(under, r.Index)
		p.Sums.Samples, p.Sums.Calls, p.Sums.FinishCalls, p.Sums.Rows = 1, r.Calls, r.FinishCalls, r.Rows
		p.Sums.Seconds.Total, last = time.Since(last).Seconds(), time.Now()
		if err := keep(p); err != nil {
			return err
		}
		made.add(p.Sums)
		c.Samples = append(c.Samples, s)
		return print.add(s)
	})
	made.NetworkCalls, made.MostKept = t.NetworkCalls, t.MostKept
	made.Seconds = seconds{t.Network.Seconds(), t.Sampling.Seconds(), time.Since(begin).Seconds()}
	c.Sums = made
	c.Sums.add(c.pieces)
	if err == nil {
		c.Audits, err = g.audited(c.Samples)
	}
	return err
}

// results turns finished chunks, in order, into the printed results.
type results struct {
	printing
	record Record
	print  *printer
	sums   sums
	// audits are the audits of groups, cached those of samples with a cache.
	audits []interaction.Terms
	cached []samplers.Audit
	// total is the number of samples asked for.
	total int
}

func newResults(made kit.Provenance, p printing, print *printer) *results {
	return &results{printing: p, record: Record{Schema: Schema, Provenance: made, Settings: p.Settings}, print: print}
}

// take adds a chunk, and prints its samples that were not printed when they finished. Nil results
// ignore it.
func (f *results) take(c chunk) error {
	if f == nil {
		return nil
	}
	f.sums.add(c.Sums)
	f.audits = append(f.audits, c.Audits...)
	f.total += len(c.Samples) + len(c.Faults)
	f.record.Faults = append(f.record.Faults, c.Faults...)
	for _, s := range c.Samples {
		if s.Audit != nil {
			f.cached = append(f.cached, *s.Audit)
		}
	}
	for _, fault := range c.Faults {
		if err := f.print.put(fault.Index, nil); err != nil {
			return err
		}
	}
	for _, s := range c.Samples {
		if err := f.print.add(s); err != nil {
			return err
		}
	}
	return nil
}

// finish sums up and prints. It returns an error if some samples failed.
func (f *results) finish() error {
	t := &f.record.Totals
	*t = totals{counts: f.sums.counts, Seconds: f.sums.Seconds, Cache: f.cacheTotals(), Audit: f.audit()}
	if all := t.Seconds.Total; all > 0 {
		t.TokensPerSecond = tokensPerSecond{float64(t.Tokens) / all, float64(f.sums.Positions) / all}
	}
	if err := f.print.finish(f.record); err != nil {
		return err
	}
	if n := len(f.record.Faults); n > 0 && !f.record.Interrupted {
		return fmt.Errorf("generate: %d of %d samples failed: %s", n, f.total, f.record.Faults[0].Error)
	}
	return nil
}

// Merge prints the results of parts as a single process would have printed them.
func Merge(ctx context.Context, p *chunks.Parts, format string, out *kit.Output) error {
	var h chunks.Run[any, printing]
	if err := p.Header(&h); err != nil {
		return err
	}
	print := h.Part.Print
	if print.Format = cmp.Or(format, print.Format); print.Format == "text" && h.Part.Provenance.Tokenizer == "" {
		return exit.Usagef("merge: --format text: the parts were made without a tokenizer, and have only ids")
	}
	printer := newPrinter(print.Format, out, print.Mask)
	if path := Beside(out.Path()); print.Format == "jsonl" && path != "" {
		record, err := kit.NewOutput(ctx, "--record", path, kit.Streams{})
		if err != nil {
			return err
		}
		defer record.Discard()
		printer.record, printer.beside = record, true
	}
	all := newResults(h.Part.Provenance, print, printer)
	all.record.Mixture = p.Mixture
	if err := chunks.EachOf(p, func(_ int, c chunk) error { return all.take(c) }); err != nil {
		return err
	}
	return all.finish()
}
