package score

import (
	"cmp"
	"context"
	"iter"
	"math"
	"time"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// results turns finished chunks, in order, into the printed results. Its memory does not grow with
// them, except for a table of windows.
type results struct {
	record Record
	corpus likelihood.Summing
	format string
	out    *kit.Output
	// windows holds the windows that the json format prints at the end.
	windows []scoredWindow
	seen    seen
}

func newResults(record Record, p printing, out *kit.Output) *results {
	return &results{record: record, corpus: likelihood.Summing{Clustered: p.Clustered}, format: p.Format, out: out}
}

// take adds a chunk.
func (f *results) take(c chunk) error {
	t := &f.record.Totals
	for _, w := range c.Windows {
		scored := likelihood.Scored{Nats: w.Nats, Tokens: w.Tokens, Bytes: -1, Words: w.Words, Cluster: w.Document}
		if w.Bytes != nil {
			scored.Bytes = *w.Bytes
		}
		f.corpus.Add(scored)
		f.seen.add(&w.scoredWindow)
		t.Rows += w.Rows
		if err := f.write(w.scoredWindow); err != nil {
			return err
		}
	}
	t.Windows += len(c.Windows)
	t.Calls += c.Calls
	t.Positions += c.Positions
	t.Seconds.Network += c.Seconds.Network
	t.Seconds.Total += c.Seconds.Total
	if f.format == "jsonl" && f.out.Streaming() {
		return f.out.Flush()
	}
	return nil
}

// seen collects what the summary's notes say about windows.
type seen struct {
	unresolved int
	// bounded is the number of windows with a lower bound; reason is why others have none.
	bounded, lower, tokens float64
	reason                 string
}

func (s *seen) add(w *scoredWindow) {
	if w.Price != nil && math.IsNaN(w.Price.Mean) {
		s.unresolved++
	}
	switch {
	case w.Lower == nil:
	case w.Lower.Estimate == nil:
		s.reason = w.Lower.Reason
	default:
		s.bounded++
		s.lower += w.Lower.Estimate.Lo
		s.tokens += float64(w.Tokens)
	}
}

// Merge prints the results of parts as a single process would have printed them.
func Merge(_ context.Context, p *chunks.Parts, format string, out *kit.Output) error {
	var h chunks.Run[settings, printing]
	if err := p.Header(&h); err != nil {
		return err
	}
	print := h.Part.Print
	print.Format = cmp.Or(format, print.Format)
	all := newResults(Record{Schema: schema, Provenance: h.Part.Provenance, Settings: h.Settings, Mixture: p.Mixture}, print, out)
	if err := chunks.EachOf(p, func(_ int, c chunk) error { return all.take(c) }); err != nil {
		return err
	}
	return all.finish()
}

// schema names the layout of score's records.
const schema = "mdmgen.score/1"

// settings holds all that the numbers depend on besides model and text.
type settings struct {
	// Value names the quantity in nats; Bound reports whether it is, in expectation, an upper bound
	// on −log P of what Value names.
	Value string `json:"value"`
	Bound bool   `json:"bound"`
	Exact bool   `json:"exact,omitempty"`
	// Estimator, Draws and Plans are set for an estimate.
	Estimator string            `json:"estimator,omitempty"`
	Draws     int               `json:"draws,omitempty"`
	Plans     int               `json:"plans,omitempty"`
	Sampler   *catalog.Settings `json:"sampler,omitempty"`
	// Guidance is w of a protocol's guided rows.
	Guidance float64 `json:"guidance,omitempty"`
	// Differs lists how the windows differ from the protocol's.
	Differs []string `json:"differs_from_protocol,omitempty"`
	// Renormalised reports whether the network's rows are scores, whose mass is not 1, and were
	// divided by it.
	Renormalised bool `json:"renormalised,omitempty"`
	// Draw is a change of the network's distribution; empty means none.
	Draw draw.Settings `json:"draw,omitzero"`
	// Seed is null if nothing is drawn.
	Seed       *uint64 `json:"seed"`
	Confidence float64 `json:"confidence"`
	texts.Cutting
	Batch   int `json:"batch,omitempty"`
	Threads int `json:"threads"`
	// Head is what the network returned for a position.
	Head   samplers.Head `json:"head,omitempty"`
	Device string        `json:"device"`
	// Text is "sha256:…" of the windows' ids, Profile of spread's interactions.
	Text    string `json:"text"`
	Profile string `json:"profile,omitempty"`
}

// seed returns the seed, 0 if nothing is drawn.
func (s settings) seed() uint64 {
	if s.Seed == nil {
		return 0
	}
	return *s.Seed
}

// scoredWindow is the result for one window.
type scoredWindow struct {
	Window   int  `json:"window"`
	Document int  `json:"document"`
	Line     int  `json:"line,omitempty"`
	Start    int  `json:"start"`
	Tokens   int  `json:"tokens"`
	Context  int  `json:"context,omitempty"`
	Bytes    *int `json:"bytes"`
	// Nats is the quantity of settings.Value, summed over the window's scored tokens.
	Nats estimate.Estimate `json:"nats"`
	// Lower is, for plans, the lower bound, or why there is none.
	Lower *likelihood.Lower `json:"lower,omitempty"`
	// Price is the contribution of the mass of raw scores, for score networks.
	Price     *estimate.Estimate `json:"price,omitempty"`
	Deviation float64            `json:"mass_deviation,omitempty"`
	Exact     *likelihood.Values `json:"exact,omitempty"`
	Rows      int                `json:"rows"`
}

// Record is the JSON output of score, and the last line of jsonl.
type Record struct {
	Schema      string             `json:"schema"`
	Provenance  kit.Provenance     `json:"provenance"`
	Settings    settings           `json:"settings"`
	Windows     []scoredWindow     `json:"windows,omitzero"`
	Corpus      *likelihood.Corpus `json:"corpus"`
	Totals      totals             `json:"totals"`
	Interrupted bool               `json:"interrupted,omitempty"`
	// Mixture names what differs between the programs or machines of parts with merge --force.
	Mixture []string `json:"mixture,omitempty"`
}

// totals are sums over the chunks of a run, including those from other processes.
type totals struct {
	Windows   int     `json:"windows"`
	Rows      int     `json:"rows"`
	Calls     int     `json:"network_calls"`
	Positions int     `json:"positions"`
	Seconds   seconds `json:"seconds"`
}

// seconds are wall-clock times: in the network, and of all work on chunks. They do not include
// opening the model and reading the text.
type seconds struct {
	Network float64 `json:"network"`
	Total   float64 `json:"total"`
}

// Schema names the layout of the file of score's --resume and --shard.
const Schema = "mdmgen.score-resume/4"

// chunk is the result of windows that were evaluated together.
type chunk struct {
	Windows   []keptWindow `json:"windows"`
	Calls     int          `json:"network_calls"`
	Positions int          `json:"positions"`
	Seconds   seconds      `json:"seconds"`
}

// keptWindow is a finished window with its unprinted parts.
type keptWindow struct {
	scoredWindow
	Words int `json:"words"`
}

// printing holds what printing the results needs in addition to the record's settings.
type printing struct {
	Format string `json:"format"`
	// Clustered reports whether errors treat the windows of a document as one unit.
	Clustered bool `json:"clustered,omitempty"`
}

// keep opens the file of --resume or --shard. If no seed is given, the file's is used.
func (r *scoring) keep() (*chunks.Checkpoint, error) {
	if !r.settings.Exact {
		seed := r.chunks.SeedOf(Schema, r.sampler.Seed, r.settings.seed())
		r.settings.Seed = &seed
	}
	made := kit.NewProvenance(r.network, r.words)
	size := r.chunkSize()
	return r.chunks.Open(r.streams, chunks.Header{
		Identity: kit.NewIdentity(Schema, made, r.settings.seed(), r.settings),
		Chunks:   (r.survey.Windows + size - 1) / size,
		Size:     size,
		Part:     chunks.Part{Provenance: made, Print: printing{r.format, r.clustered}},
	}, r.output)
}

// sequence returns the windows of an input in order.
type sequence struct {
	survey *texts.Survey
	next   func() (texts.Window, error, bool)
	stop   func()
	at     int // the window that next returns
}

// windows returns the windows from..to. It returns an error if the text has changed.
func (q *sequence) windows(from, to int) ([]texts.Window, error) {
	if q.next == nil || q.at != from {
		q.close()
		q.next, q.stop = iter.Pull2(q.survey.From(from))
		q.at = from
	}
	var out []texts.Window
	for ; q.at < to; q.at++ {
		w, err, ok := q.next()
		if err != nil || !ok {
			return nil, err
		}
		out = append(out, w)
	}
	return out, q.survey.Changed()
}

func (q *sequence) close() {
	if q.stop != nil {
		q.stop()
	}
}

// work evaluates a chunk.
func (r *scoring) work(i, size int) (chunk, error) {
	from := i * size
	read, err := r.sequence.windows(from, min(from+size, r.survey.Windows))
	if err != nil {
		return chunk{}, err
	}
	out := chunk{Windows: make([]keptWindow, len(read))}
	targets := make([]likelihood.Target, 0, len(read))
	for i, w := range read {
		targets = append(targets, w.Target)
		out.Windows[i] = keptWindow{scoredWindow: scoredWindow{Window: from + i, Document: w.Document, Line: w.Line, Start: w.Start, Tokens: len(w.Free), Context: len(w.IDs) - len(w.Free)}, Words: w.Words}
		if w.Bytes >= 0 {
			out.Windows[i].Bytes = &read[i].Bytes
		}
	}
	before, begin := r.evaluator.Totals(), time.Now()
	if err := r.evaluate(targets, from, out.Windows); err != nil {
		return chunk{}, err
	}
	t := r.evaluator.Totals()
	out.Calls, out.Positions = t.Calls-before.Calls, t.Positions-before.Positions
	out.Seconds = seconds{(t.Network - before.Network).Seconds(), time.Since(begin).Seconds()}
	return out, nil
}

// evaluate sets the values of windows. first is the index of the first window.
func (r *scoring) evaluate(targets []likelihood.Target, first int, out []keptWindow) error {
	if r.settings.Exact {
		values, err := r.evaluator.Values(r.ctx, targets, r.config.Sampler)
		for i, v := range values {
			out[i].Nats, out[i].Rows = estimate.Exact(v.Sampler.NegLog), v.Rows
			out[i].Exact = &values[i]
		}
		return err
	}
	results, err := r.evaluator.Estimate(r.ctx, targets, uint64(first), r.config)
	for i, v := range results {
		out[i].Nats, out[i].Lower, out[i].Price, out[i].Deviation, out[i].Rows = v.Nats, v.Lower, v.Price, v.Deviation, v.Rows
	}
	return err
}
