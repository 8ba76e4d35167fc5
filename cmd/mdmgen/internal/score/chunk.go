package score

import (
	"iter"
	"time"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/profile"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/windows"
)

// Schema names the layout of the file that score's --resume and --shard keep.
const Schema = "mdmgen.score-resume/4"

// chunk is the result of some windows that were worked out together.
type chunk struct {
	Windows   []keptWindow `json:"windows"`
	Calls     int          `json:"network_calls"`
	Positions int          `json:"positions"`
	Seconds   seconds      `json:"seconds"`
}

// keptWindow is a finished window with what is not printed of it.
type keptWindow struct {
	scoredWindow
	Words int            `json:"words"`
	Terms *profile.Terms `json:"terms,omitempty"`
}

// printing is what is needed to print the results besides the record's own settings.
type printing struct {
	Format string `json:"format"`
	// Clustered makes the windows of a document one unit of an error.
	Clustered bool `json:"clustered,omitempty"`
}

// keep opens the file of --resume or --shard. A seed that was not given is the file's.
func (r *scoring) keep() (*chunks.Checkpoint, error) {
	if !r.settings.Exact {
		seed, err := r.chunks.SeedOf(Schema, r.sampler.Seed, r.settings.seed())
		if err != nil {
			return nil, err
		}
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

// sequence hands out the windows of an input in their order.
type sequence struct {
	survey *windows.Survey
	next   func() (windows.Window, error, bool)
	stop   func()
	at     int // of the window that next gives
}

// windows are those from..to, of a text that is as it was.
func (q *sequence) windows(from, to int) ([]windows.Window, error) {
	if q.next == nil || !q.survey.Onward(q.at, from) {
		q.close()
		q.next, q.stop = iter.Pull2(q.survey.From(from))
		q.at = from
	}
	var out []windows.Window
	for ; q.at < to; q.at++ {
		w, err, ok := q.next()
		if err != nil || !ok {
			return nil, err
		}
		if q.at >= from {
			out = append(out, w)
		}
	}
	return out, q.survey.Changed()
}

func (q *sequence) close() {
	if q.stop != nil {
		q.stop()
	}
}

// work works out a chunk.
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

// evaluate fills in the values of windows, the first of which has the index first.
func (r *scoring) evaluate(targets []likelihood.Target, first int, out []keptWindow) error {
	keep := func(i int, t *profile.Terms) {
		if t != nil && t.Finite() {
			out[i].Terms = t
		}
	}
	if r.settings.Exact {
		values, err := r.evaluator.Values(r.ctx, targets, r.config.Sampler)
		for i, v := range values {
			out[i].Nats, out[i].Rows = likelihood.Known(v.Sampler.NegLog), v.Rows
			// A quadrature is not exact: its own estimate of its error is the interval.
			out[i].Nats.Lo -= v.Sampler.QuadratureError
			out[i].Nats.Hi += v.Sampler.QuadratureError
			out[i].Exact = &values[i]
			keep(i, v.Terms)
		}
		return err
	}
	results, err := r.evaluator.Estimate(r.ctx, targets, uint64(first), r.config)
	for i, v := range results {
		out[i].Nats, out[i].Lower, out[i].Price, out[i].Deviation, out[i].Rows = v.Nats, v.Lower, v.Price, v.Deviation, v.Rows
		keep(i, v.Terms)
	}
	return err
}
