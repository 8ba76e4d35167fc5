package score

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/profile"
	"mdmgen/internal/cli/exit"
	"mdmgen/internal/cli/kit"
	"mdmgen/internal/cli/setup"
	"mdmgen/internal/cli/windows"
	"mdmgen/internal/fault"
	"mdmgen/model/facts"
	"mdmgen/samplers"
)

// chunkRows is how many network rows are asked for together where windows take fewer:
// enough that rows of a call want about as many positions. Where a call has few rows
// chunkCalls of them are enough, and where it has one, nothing is won by more than a
// window: each is kept as soon as it is finished.
const (
	chunkRows    = 256
	chunkCalls   = 32
	chunkWindows = 64
)

// prepare reads the input and fills in the settings, once the facts are known.
func (r *scoring) prepare() (err error) {
	if r.words, err = r.tokenizer.OpenAny(r.ctx, r.streams, &r.model); err != nil {
		return err
	}
	if err := r.tokenizer.Fit(r.streams, r.words, r.facts); err != nil {
		return err
	}
	o, err := r.sampler.Options(r.ctx, r.all)
	if err != nil {
		return err
	}
	if r.evaluator, err = likelihood.New(r.network, likelihood.Options{Batch: r.sampler.Batch, Draw: o.Draw}); err != nil {
		return refused(err)
	}
	r.config = likelihood.Config{Form: r.form(), Draws: r.draws, Confidence: r.confidence}
	sampler, err := samplers.New(o, r.network.Spec())
	if err != nil {
		return refused(err)
	}
	if r.exact || r.config.Form == likelihood.Plans {
		set := sampler.Settings()
		r.settings.Sampler = &set
		r.config.Sampler = sampler
	}
	if r.config.Form == likelihood.Plans {
		r.config.Plans = max(r.plans, 1)
	}
	if !r.exact {
		if err := r.config.Check(r.facts); err != nil {
			return refused(err)
		}
	}
	in := &windows.Reader{Cutting: r.cut, Ctx: r.ctx, Streams: r.streams, Path: r.path, Command: "score", Facts: r.facts, Tokenizer: r.words, Check: r.evaluator.Check, Short: r.exact}
	if r.windows, err = in.Read(); err != nil {
		return err
	}
	r.overlaps = in.Overlaps()
	r.settings.As, r.settings.Length, r.settings.Stride = in.Kind(), in.CutLength(), in.CutStride()
	r.fillSettings(r.evaluator.Draw(), sampler)
	return r.tryPlans(sampler)
}

// refused is a usage error of what was asked for.
func refused(err error) error { return exit.Usagef("score: %s", fault.Plain(err)) }

// fillSettings records what is in force.
func (r *scoring) fillSettings(d samplers.Draw, s *samplers.Sampler) {
	set := &r.settings
	set.Draw, set.Confidence = d, r.confidence
	set.Join, set.Context, set.Frame, set.Tail = r.cut.Join, r.cut.Context, r.cut.Frame, r.cut.Tail
	set.Head = r.evaluator.Head()
	set.Limit, set.Batch, set.Device, set.Threads = r.cut.Limit, r.sampler.Batch, r.model.DeviceOf(r.facts), setup.ThreadsOf(r.network)
	raw := r.config.Sampler != nil && s.Settings().Scores == samplers.ScoresRaw
	set.Renormalised = r.facts.Output == facts.LogScore && r.config.Form != likelihood.SEDD && r.config.Form != likelihood.ScoreEntropyForm && !raw
	switch form := r.config.Form; {
	case r.exact:
		set.Exact, set.Value = true, "−log P of "+s.String()
	case form == likelihood.Plans:
		set.Value = fmt.Sprintf("bound by %d %s on −log P of %s", r.config.Plans, map[bool]string{true: "paths", false: "plans"}[r.replays()], s)
	case form == likelihood.ScoreEntropyForm:
		set.Value = "integrated score entropy"
	case r.protocol != "":
		set.Value = "NELBO as " + string(form) + " reports it"
	default:
		set.Value = "NELBO"
	}
	// A protocol is what others report: truncated or rounded as theirs is, and so
	// not a bound to the last digit.
	set.Bound = !set.Exact && r.protocol == ""
	if !set.Exact {
		set.Estimator, set.Draws, set.Plans = string(r.config.Form), r.config.DrawsOr(), r.config.Plans
		seed := setup.SeedOr(r.sampler.Seed)
		set.Seed = &seed
	}
	set.Text, set.Profile = windows.Digest(r.windows), r.sampler.Profile.Digest()
}

// tryPlans refuses, before the first row, sizes or orders that do not fit a window, and
// windows that are too large for exact values.
func (r *scoring) tryPlans(s *samplers.Sampler) error {
	_, raw := s.RawLaw()
	if r.settings.Exact && !s.Planned() && !raw {
		if err := r.evaluator.Fits(1, s); err != nil {
			return refused(err)
		}
		if r.writeProfile != "" {
			return exit.Usagef("--write-profile: %s does not tell the loss at each number of visible tokens: leave --sampler out", s)
		}
	}
	for i, w := range r.windows {
		if r.settings.Exact && (s.Planned() || raw) && len(w.Free) > likelihood.MaxFree {
			return exit.Usagef("score: window %d has %d tokens to be scored: exact values would take 2^%d = %.0f network rows, and more than 2^%d are not taken: give a smaller --length, or --context",
				i, len(w.Free), len(w.Free), likelihood.ExactRows(len(w.Free)), likelihood.MaxFree)
		}
		if r.config.Sampler == nil {
			continue
		}
		if r.settings.Exact {
			if err := r.evaluator.Fits(len(w.Free), s); err != nil {
				return exit.Usagef("score: window %d: %s", i, fault.Plain(err))
			}
			if !s.Planned() {
				continue // It has a law, but no plans.
			}
		}
		if err := likelihood.FitsPlans(w.Free, s); err != nil {
			return exit.Usagef("score: window %d: %s", i, fault.Plain(err))
		}
	}
	return nil
}

// replays says that the sampler is replayed on windows.
func (r *scoring) replays() bool {
	if r.config.Sampler == nil {
		return false
	}
	law, planned := r.config.Sampler.Law()
	return !planned && law.Replay != samplers.NoReplay
}

// chunk is how many windows are worked out together. It must not depend on what was
// done before, so that a run that goes on has the same calls.
func (r *scoring) chunk() int {
	most, rows := 1, chunkRows
	for _, w := range r.windows {
		n := len(w.Free)
		if together := r.evaluator.Together(len(w.IDs), n); together == 1 {
			rows = 1
		} else {
			rows = min(rows, chunkCalls*together)
		}
		switch {
		case !r.settings.Exact:
			n = r.config.RowsOf(n)
		case r.replays():
			law, _ := r.config.Sampler.Law()
			n = int(law.ReplayRows(n))
		default:
			n = 1 << min(n, likelihood.MaxFree)
		}
		most = max(most, n)
	}
	return min(max(rows/most, 1), chunkWindows)
}

// run works out all windows and prints. After an interrupt what is finished is
// printed, and the interrupt is the error.
func (r *scoring) run() error {
	terms, err := r.newProfiling()
	if err != nil {
		return err
	}
	defer terms.discard()
	resume, err := openResume(r)
	if err != nil {
		return err
	}
	defer resume.Close()
	r.config.Seed = r.settings.seed()
	if r.settings.Seed != nil && r.sampler.Seed == nil {
		r.streams.Notice(fmt.Sprintf("seed %d", r.config.Seed))
	}
	print := &printer{format: r.format, out: r.out, rows: r.table}
	record := Record{Schema: schema, Provenance: kit.NewProvenance(r.network, r.words), Settings: r.settings}
	record.Totals.Resumed = len(resume.done)
	bar := kit.NewBar(r.streams, len(r.windows), !r.out.Streaming() || !kit.IsTerminal(r.streams.Out) || r.format != "jsonl", "scoring", "windows")
	begin := time.Now()
	size := r.chunk()
	for from := 0; from < len(r.windows) && err == nil; from += size {
		to := min(from+size, len(r.windows))
		results := resume.finished(from, to)
		if results == nil {
			if results, err = r.work(from, to); err == nil {
				err = resume.add(results)
			}
		}
		if err == nil {
			err = terms.add(results)
		}
		if err == nil {
			err = print.add(results)
		}
		bar.Add(len(results))
	}
	bar.Clear()
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		// What is finished is shown; a file is not made of a part.
		if ferr := r.out.Finish(true); !errors.Is(err, ferr) {
			err = errors.Join(ferr, err)
		}
		return fmt.Errorf("score: %w", fault.WithoutName(err))
	}
	r.finish(&record, print.all, time.Since(begin))
	record.Interrupted = interrupted
	// A file that cannot be written takes nothing away from what is printed, nor the other way
	// round.
	if perr := errors.Join(terms.finish(r.streams, record), print.finish(record)); perr != nil {
		return perr
	}
	return err
}

// work works out the windows from..to.
func (r *scoring) work(from, to int) ([]scoredWindow, error) {
	targets := make([]likelihood.Target, 0, to-from)
	out := make([]scoredWindow, to-from)
	keep := func(i int, t *profile.Terms) {
		if t != nil && t.Finite() {
			out[i].terms = t
		}
	}
	for i, w := range r.windows[from:to] {
		targets = append(targets, w.Target)
		out[i] = scoredWindow{Window: from + i, Document: w.Document, Line: w.Line, Start: w.Start, Tokens: len(w.Free), Context: len(w.IDs) - len(w.Free)}
		if w.Bytes >= 0 {
			out[i].Bytes = &r.windows[from+i].Bytes
		}
	}
	if r.settings.Exact {
		values, err := r.evaluator.Values(r.ctx, targets, r.config.Sampler)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			out[i].Nats, out[i].Rows = likelihood.Known(v.Sampler.NegLog), v.Rows
			// A quadrature is not exact: its own estimate of its error is the interval.
			out[i].Nats.Lo -= v.Sampler.QuadratureError
			out[i].Nats.Hi += v.Sampler.QuadratureError
			out[i].Exact = newExactValues(v)
			keep(i, v.Terms)
		}
		return out, nil
	}
	results, err := r.evaluator.Estimate(r.ctx, targets, uint64(from), r.config)
	if err != nil {
		return nil, err
	}
	for i, v := range results {
		out[i].Nats, out[i].Lower, out[i].Price, out[i].Deviation, out[i].Rows = v.Nats, v.Lower, v.Price, v.Deviation, v.Rows
		keep(i, v.Terms)
	}
	return out, nil
}

// finish sums up.
func (r *scoring) finish(record *Record, windows []scoredWindow, total time.Duration) {
	scored := make([]likelihood.Scored, len(windows))
	for i, w := range windows {
		scored[i] = likelihood.Scored{Nats: w.Nats, Tokens: w.Tokens, Bytes: -1, Words: r.windows[w.Window].Words, Cluster: w.Document}
		if w.Bytes != nil {
			scored[i].Bytes = *w.Bytes
		}
		record.Totals.Rows += w.Rows
	}
	if len(windows) > 0 {
		corpus := likelihood.Summarize(scored, r.overlaps, r.settings.Confidence)
		corpus.NotBound = !r.settings.Bound
		record.Corpus = &corpus
	}
	t := r.evaluator.Totals()
	record.Totals.Windows, record.Totals.Calls, record.Totals.Positions = len(windows), t.Calls, t.Positions
	record.Totals.Seconds = seconds{Network: t.Network.Seconds(), Total: total.Seconds()}
}
