package score

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model/facts"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/subset"
)

// chunkRows is the number of network rows that are evaluated together if windows take fewer: enough
// for the rows of a call to want about as many positions. If a call has few rows, chunkCalls calls
// are enough. If it has one, chunks hold a single window, which is kept as soon as it is finished.
const (
	chunkRows    = 256
	chunkCalls   = 32
	chunkWindows = 64
)

// prepare reads the input and completes the settings, once the facts are known.
func (r *scoring) prepare() (err error) {
	if r.words, err = r.tokenizer.OpenAny(r.ctx, r.streams, &r.model); err != nil {
		return err
	}
	if err := setup.Fit(r.words, r.facts); err != nil {
		return err
	}
	o, err := r.sampler.Options(r.ctx, r.all)
	if err != nil {
		return err
	}
	if err := r.sampler.Profile.For(r.ctx, r.streams, r.network, &o); err != nil {
		return err
	}
	of := likelihood.Options{Batch: r.sampler.Batch, Draw: o.Draw, Blocks: true}
	if r.protocol == likelihood.LLaDA {
		of.AllColumns, of.Guidance = true, o.Guidance
		r.settings.Guidance = o.Guidance
	}
	if r.evaluator, err = likelihood.New(r.network, of); err != nil {
		return r.all.Refuse("score", err)
	}
	r.config = likelihood.Config{Form: r.form(), Draws: r.draws, Confidence: r.confidence}
	sampler, err := catalog.New(o, r.network.Spec())
	if err != nil {
		return r.all.Refuse("score", err)
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
			return r.all.Refuse("score", err)
		}
	}
	r.follow()
	in := &texts.Reader{Cutting: r.cut, Ctx: r.ctx, Streams: r.streams, Path: r.path, Command: "score", Flags: r.all, Facts: r.facts, Tokenizer: r.words, Check: r.evaluator.Check, Short: r.exact && !samplers.Is[samplers.ByCausal](sampler.Law())}
	if r.survey, err = in.Survey(); err != nil {
		return err
	}
	r.sequence.survey = r.survey
	r.overlaps, r.clustered = in.Cut.Overlaps(), in.Clustered()
	r.cut.Frame = in.Frame
	r.settings.Cutting = r.cut
	r.settings.As, r.settings.Length, r.settings.Stride = in.Kind(), in.Cut.Length, in.Cut.Stride
	r.fillSettings(r.evaluator.Draw(), sampler)
	return r.tryPlans(sampler)
}

// fillSettings records the settings in force.
func (r *scoring) fillSettings(d draw.Settings, s *catalog.Sampler) {
	set := &r.settings
	set.Draw, set.Confidence = d, r.confidence
	set.Head = r.evaluator.Head()
	set.Batch, set.Device, set.Threads = r.sampler.Batch, r.model.DeviceOf(r.facts), setup.ThreadsOf(r.network)
	set.Renormalised = r.facts.Output == facts.LogScore && r.config.Form != likelihood.SEDD && r.config.Form != likelihood.ScoreEntropyForm
	law := s.String()
	switch form := r.config.Form; {
	case r.exact:
		set.Exact, set.Value = true, "−log P of "+law
	case form == likelihood.Plans:
		what := "plan"
		if r.replays() {
			what = "path"
		}
		set.Value = fmt.Sprintf("bound by %s on −log P of %s", english.Plural(r.config.Plans, what, ""), law)
	case form == likelihood.ScoreEntropyForm:
		set.Value = "integrated score entropy"
	case r.protocol != "":
		if set.Value = "NELBO as " + string(form) + " reports it"; set.Guidance != 0 {
			set.Value += fmt.Sprintf(" with guidance %v", set.Guidance)
		}
	default:
		set.Value = "NELBO"
	}
	// A protocol computes what others report, truncated or rounded as theirs is, so it is not a
	// bound to the last digit.
	set.Bound = !set.Exact && r.protocol == ""
	if !set.Exact {
		set.Estimator, set.Draws, set.Plans = string(r.config.Form), r.config.DrawsOr(), r.config.Plans
		seed := setup.SeedOr(r.sampler.Seed)
		set.Seed = &seed
	}
	set.Differs = r.differences()
	set.Text, set.Profile = r.survey.Digest, r.sampler.Profile.Digest()
}

// tryPlans returns an error, before the first row, if sizes or orders do not fit a window or
// windows are too large for exact values.
func (r *scoring) tryPlans(s *catalog.Sampler) error {
	if r.settings.Exact && !s.Planned() {
		if err := r.evaluator.Fits(1, s); err != nil {
			return r.all.Refuse("score", err)
		}
	}
	for _, w := range r.survey.Shapes {
		free := w.Free()
		if r.config.Sampler == nil {
			continue
		}
		err := texts.Begins(s, r.network.Spec(), w.Length, free)
		if err == nil && r.settings.Exact {
			err = r.evaluator.Fits(len(free), s)
		}
		if err == nil && !(r.settings.Exact && r.facts.BlockSize > 0) { // Exact values are sums over blocks, not of plans.
			err = likelihood.FitsPlans(free, s)
		}
		if err != nil {
			return exit.Usagef("score: window %d: %s", w.First, fault.Plain(err))
		}
	}
	return nil
}

// replays reports whether the sampler is replayed on windows.
func (r *scoring) replays() bool {
	return r.config.Sampler != nil && samplers.Is[samplers.Replayed](r.config.Sampler.Law())
}

// chunkSize returns the number of windows per chunk. It depends on the run alone, not on work done
// before or elsewhere, so that every process makes the same calls.
func (r *scoring) chunkSize() int {
	most, rows := 1, chunkRows
	for _, w := range r.survey.Shapes {
		n := w.Length - w.After - w.From
		if together := r.evaluator.Together(w.Length, n); together == 1 {
			rows = 1
		} else {
			rows = min(rows, chunkCalls*together)
		}
		switch {
		case !r.settings.Exact:
			n = r.config.RowsOf(n)
		case samplers.Is[samplers.ByCausal](r.config.Sampler.Law()):
			n = 1
		case r.replays():
			n = int(r.config.Sampler.Law().(samplers.Replayed).Rows(n))
		default:
			n = 1 << min(n, subset.MaxFree)
		}
		most = max(most, n)
	}
	return min(max(rows/most, 1), chunkWindows)
}

// run evaluates the windows and prints, or writes a part. After an interrupt it prints the finished
// windows and returns the interrupt as the error.
func (r *scoring) run() error {
	defer r.sequence.close()
	r.config.Seed = r.settings.seed()
	kept, err := r.keep()
	if err != nil {
		return err
	}
	r.config.Seed = r.settings.seed()
	if r.settings.Seed != nil && !r.chunks.Given() {
		r.sampler.ShowSeed(r.streams, r.config.Seed)
	}
	all := newResults(Record{Schema: schema, Provenance: kit.NewProvenance(r.network, r.words), Settings: r.settings}, printing{r.format, r.clustered}, r.streams.Results)
	size := r.chunkSize()
	from, to := kept.Range()
	bar := kit.NewBar(r.streams, min(to*size, r.survey.Windows)-min(from*size, r.survey.Windows), "scoring", "windows")
	return chunks.Do(r.ctx, kept, r.streams, bar, chunks.Work[chunk]{
		Compute: func(i int) (chunk, error) { return r.work(i, size) },
		Count:   func(_ int, c chunk, _ bool) int { return len(c.Windows) },
		Take:    func(_ int, c chunk, _ bool) error { return all.take(c) },
		End: func(err error) error {
			all.record.Interrupted = err != nil
			if err == nil || errors.Is(err, context.Canceled) {
				return kit.Ended(err, all.finish())
			}
			if all.record.Totals.Windows > 0 {
				err = kit.Ended(err, all.finish())
			}
			return fmt.Errorf("score: %w", fault.WithoutName(err))
		},
	})
}

// framed maps the protocols that join all texts, each followed by an end token, and cut them into
// windows of the model's length, dropping the rest, to their frame. MDLM puts a token at the
// beginning and end of each window.
var framed = map[likelihood.Form]string{likelihood.MDLM: "bos-eos", likelihood.RADD: "none", likelihood.SEDD: "none"}

// follow cuts texts as the protocol does, except where flags say otherwise. If the tokenizer has no
// end tokens, it adds none and does not join texts.
func (r *scoring) follow() {
	frame, joins := framed[r.protocol]
	if !joins || r.facts.Frame != nil {
		return
	}
	ends := false
	if r.words != nil {
		_, _, err := r.words.Frame()
		ends = err == nil
	}
	if !r.all.Given("join") {
		r.cut.Join = ends
	}
	if !r.all.Given("frame") && ends {
		r.cut.Frame = frame
	}
	if !r.all.Given("tail") && r.cut.Join {
		r.cut.Tail = "drop"
	}
}

// differences lists how the windows differ from the protocol's.
func (r *scoring) differences() (out []string) {
	differs := func(is bool, what string) {
		if is {
			out = append(out, what)
		}
	}
	frame, joins := framed[r.protocol]
	switch c := r.cut; {
	case joins:
		differs(!c.Join, "texts are not joined with an end token after each (--join)")
		differs(c.Frame != frame, "the frame of windows is "+c.Frame+" (--frame "+frame+")")
		differs(c.Tail != "drop", "shorter windows are kept (--tail drop)")
		differs(c.Context > 0, "a part of each window is given (--context 0)")
		differs(r.settings.Stride > 0 && r.overlaps, "windows overlap (--stride)")
		differs(r.settings.Length != r.facts.Length, "windows are not of the model's length (--length)")
	case r.protocol == likelihood.LLaDA:
		differs(slices.ContainsFunc(r.survey.Shapes, func(s texts.Shape) bool { return s.From == 0 }),
			`windows have no prompt (JSON lines {"context":…,"text":…})`)
	}
	return out
}
