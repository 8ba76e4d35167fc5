package bound

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/certificate"
	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/samplers/subset"
	"mdmgen/tokenize"
)

// network runs the modes with a network.
func (r *bounding) network(m model.Model, e *likelihood.Evaluator) (err error) {
	set := &r.settings
	seed := r.chunks.SeedOf(Schema, r.sampler.Seed, setup.SeedOr(r.sampler.Seed))
	set.Seed, set.Confidence, set.Batch = &seed, r.confidence, r.sampler.Batch
	cfg := bound.Config{Cases: r.cases, Seed: seed, Confidence: set.Confidence}
	if r.q0 != "" {
		return r.sampled(m, e, cfg)
	}
	in := &texts.Reader{Cutting: r.cut, Ctx: r.ctx, Streams: r.streams, Path: r.path, Command: "bound", Flags: r.all, Facts: m.Facts(), Check: e.Check, Short: true}
	in.Limit = cmp.Or(r.cut.Limit, defaultWindows)
	if in.Tokenizer, err = r.tokenizer.OpenAny(r.ctx, r.streams, &r.model); err != nil {
		return err
	}
	if err := setup.Fit(in.Tokenizer, in.Facts); err != nil {
		return err
	}
	read, err := in.Read()
	if err != nil {
		return err
	}
	set.As, set.Join, set.Context, set.Frame, set.Tail = in.Kind(), in.Join, in.Cutting.Context, in.Frame, in.Tail
	set.Length, set.Stride, set.Windows, set.Text = in.Cut.Length, in.Cut.Stride, len(read), texts.Digest(read)
	var targets []likelihood.Target
	var cluster []int
	for _, w := range read {
		targets = append(targets, w.Target)
		if in.Clustered() {
			cluster = append(cluster, w.Document)
		}
		r.free = max(r.free, len(w.Free))
	}
	long := r.plans > 0 || r.free > subset.MaxFree || in.Facts.TimeConditioned
	if !long {
		if err := r.fitting(e, r.free); err != nil {
			return err
		}
		cfg.Cases = r.cases
	}
	shortest := slices.MinFunc(targets, func(a, b likelihood.Target) int { return len(a.IDs) - len(b.IDs) })
	for _, k := range r.cases {
		if err := texts.Begins(k.Sampler, m.Spec(), len(shortest.IDs), shortest.Free); err != nil {
			return r.all.Refuse("bound", err)
		}
	}
	if long {
		for _, k := range r.cases {
			if err := certificate.Check(k.Sampler, r.free); err != nil && r.all.Given("sampler") {
				return exit.Usagef("bound: --sampler: without exact values, a sampler needs a certificate: %s", fault.Plain(err))
			}
		}
		cfg.Plans = cmp.Or(r.plans, defaultPlans)
	}
	set.Plans = cfg.Plans
	ref, done, err := r.openReference(in)
	defer done()
	if err != nil {
		return err
	}
	cfg.Baseline = ref
	return r.onText(m, in.Tokenizer, e, targets, cluster, cfg)
}

// sampled runs the modes with --q0, which sample a canvas of the network.
func (r *bounding) sampled(m model.Model, e *likelihood.Evaluator, cfg bound.Config) error {
	n, f := r.settings.Length, m.Facts()
	if f.FixedLength && r.cut.Length == 0 {
		n = f.Length
	}
	if err := texts.CheckLength(n+len(f.Frame), f); err != nil {
		return err
	}
	cfg.Draws = cmp.Or(r.draws, defaultWindows)
	target := likelihood.Framed(f, make([]int, n))
	work, units := 2*cfg.Draws, "windows"
	report := func() (bound.Report, error) { return bound.Chain(r.ctx, m, e, target, cfg) }
	switch causal := r.q0 == "causal"; {
	case causal && !f.Causal:
		return exit.Usagef("--q0 causal: needs a network with causal rows beside those of blocks, which this one does not have")
	case causal:
		target = likelihood.Target{IDs: slices.Repeat([]int{setup.First(nil, f)}, n), Free: likelihood.InOrder(n)[1:]}
		cfg.Plans = cmp.Or(r.plans, defaultPlans)
		work, units = len(cfg.Cases), "samplers"
		report = func() (bound.Report, error) { return bound.Causal(r.ctx, e, target, cfg) }
	case f.TimeConditioned:
		return exit.Usagef("--q0: the network is time-conditioned: its First-Hitting samples are drawn at random times, over which no exact value integrates: give a text instead")
	case n > subset.MaxFree:
		return exit.Usagef("--length %d: exact values take 2^%d network rows per sample: at most 2^%d are allowed", n, n, subset.MaxFree)
	case f.Shift:
		return exit.Usagef("--q0: the network predicts position l from row l−1, and has no row for the first position: give a text instead, with --context 1")
	default:
		if err := r.fitting(e, n); err != nil {
			return err
		}
		cfg.Cases = r.cases
	}
	r.free = len(target.Free)
	r.settings.Length, r.settings.Draws, r.settings.Plans = n, cfg.Draws, cfg.Plans
	r.sampler.ShowSeed(r.streams, cfg.Seed)
	bar := kit.NewBar(r.streams, work, "working out", units)
	cfg.Done = bar.Add
	return r.work(kit.NewProvenance(m, nil), func() (bound.Report, error) {
		defer bar.Clear()
		return report()
	})
}

// Schema names the layout of the file of bound's --resume and --shard.
const Schema = "mdmgen.bound-resume/6"

// onText evaluates the windows of a text and prints the report, or writes a part.
func (r *bounding) onText(m model.Model, t *tokenize.Tokenizer, e *likelihood.Evaluator, ts []likelihood.Target, cluster []int, cfg bound.Config) error {
	study, err := bound.NewStudy(m, e, ts, cluster, cfg)
	if err != nil {
		return fmt.Errorf("bound: %w", fault.WithoutName(err))
	}
	made := kit.NewProvenance(m, t)
	head := chunks.Header{
		Identity: kit.NewIdentity(Schema, made, cfg.Seed, r.settings), Chunks: study.Chunks(), Size: study.Windows(), Part: chunks.Part{Provenance: made},
	}
	if r.chunks.Kept() {
		head.Part.Print = stored{r.printing(true), study.Basis()}
	}
	kept, err := r.chunks.Open(r.streams, head, r.output)
	if err != nil {
		return err
	}
	total, done := 0, 0
	for i, to := kept.Range(); i < to; i++ {
		total += study.Size(i)
	}
	bar := kit.NewBar(r.streams, total, "working out", "windows")
	if !r.chunks.Given() {
		r.sampler.ShowSeed(r.streams, cfg.Seed)
	}
	return chunks.Do(r.ctx, kept, r.streams, bar, chunks.Work[bound.Chunk]{
		Compute: func(i int) (bound.Chunk, error) { return study.Work(r.ctx, i) },
		Count:   func(i int, _ bound.Chunk, _ bool) int { return study.Size(i) },
		Take: func(_ int, c bound.Chunk, _ bool) error {
			done++
			return study.Take(c)
		},
		End: func(err error) error {
			return r.work(made, func() (bound.Report, error) {
				if err != nil && (done == 0 || r.ctx.Err() == nil) {
					return bound.Report{}, err
				}
				return study.Report(), err
			})
		},
	})
}

// stored is what printing the report of a part's run needs besides its settings and chunks.
type stored struct {
	printing
	Basis bound.Basis `json:"basis"`
}

// Merge prints the report of parts as a single process would have printed it.
func Merge(_ context.Context, p *chunks.Parts, format string, out *kit.Output) error {
	var h chunks.Run[settings, stored]
	if err := cmp.Or(p.OneMachine(), p.Header(&h)); err != nil {
		return err
	}
	tally, err := bound.NewTally(h.Part.Print.Basis)
	if err == nil {
		err = chunks.EachOf(p, func(_ int, c bound.Chunk) error { return tally.Take(c) })
	}
	if err != nil {
		return exit.Usagef("merge: %w", fault.WithoutName(err))
	}
	how := h.Part.Print.printing
	how.Format = cmp.Or(format, how.Format)
	result := tally.Report()
	result.Notes = append(result.Notes, how.Notes...)
	return cmp.Or(how.print(out, result, &h.Settings, h.Part.Provenance), violated(result))
}
