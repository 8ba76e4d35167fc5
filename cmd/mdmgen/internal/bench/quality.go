package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/certificate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model/causal"
	"mdmgen/model/hub"
	"mdmgen/samplers/subset"
	"mdmgen/tokenize"
)

// nelboSeed separates the draws of NELBOs from the streams of sequences.
const nelboSeed = 0x6e656c626f // "nelbo"

// cellParts are the parts measured cell by cell, in this order.
var cellParts = []string{bench.PartNELBO, bench.PartAudit, bench.PartCausal, bench.PartEvaluator}

// qualities holds what --quality asks for.
type qualities struct {
	parts []string
	// errors and certificates are empty if none are asked for.
	errors       *bench.Errors
	certificates *bench.Certificates
	// judge and evaluator are nil without --evaluator.
	judge     *quality.Judge
	evaluator *causal.Model
}

func (q *qualities) close() {
	if q.evaluator != nil {
		q.evaluator.Close()
	}
}

func (q *qualities) has(part string) bool { return slices.Contains(q.parts, part) }

// prepareQuality reads what --quality needs, once the model is open.
func (r *benching) prepareQuality() (err error) {
	q := &r.look
	q.parts = r.parts
	if r.evaluator != "" {
		q.parts = append(q.parts, bench.PartEvaluator)
	}
	if len(q.parts) == 0 {
		return nil
	}
	set := &bench.QualitySettings{Parts: q.parts}
	r.settings.Quality = set
	set.Draws, set.CertificateRuns, set.ErrorSamples, set.AuditTexts, set.CausalTexts = r.amounts[bench.PartNELBO], r.amounts[bench.PartCertificate], r.amounts[bench.PartError], r.amounts[bench.PartAudit], r.amounts[bench.PartCausal]
	if q.has(bench.PartCausal) && !r.facts.Causal {
		return exit.Usagef("--quality causal: needs a network with causal rows beside those of blocks, which this one does not have")
	}
	if q.has(bench.PartEvaluator) {
		if err := r.openEvaluator(); err != nil {
			return err
		}
		protocol := q.judge.Protocol()
		set.Protocol = &protocol
	}
	if q.has(bench.PartCertificate) {
		q.certificates = bench.GroupCertificates(r.cells)
	}
	if !q.has(bench.PartError) {
		return nil
	}
	if free := slices.MinFunc(r.cells, func(a, b bench.Cell) int { return a.Free - b.Free }).Free; free > subset.MaxFree {
		return exit.Usagef("--quality error: exact over at most %d positions, and %d are to be sampled: give --length 8, or use --quality certificate or audit, which take any length", subset.MaxFree, free)
	}
	q.errors = bench.GroupErrors(r.cells)
	return nil
}

// openEvaluator opens the model of --evaluator with its tokenizer.
func (r *benching) openEvaluator() error {
	if r.words == nil {
		return exit.Missingf("--evaluator needs a tokenizer: give one with --tokenizer")
	}
	ctx, cancel := r.limited()
	defer cancel()
	ref, err := setup.LocalFolder(ctx, r.streams, r.model.Offline(), r.evaluator, hub.Graph)
	if err != nil {
		return fmt.Errorf("--evaluator %s: %w", r.evaluator, err)
	}
	runtime, err := r.model.Config(r.streams, r.all)
	if err != nil {
		return err
	}
	runtime.Threads = r.cells[0].Setting.Threads
	if r.look.evaluator, err = causal.Open(ctx, ref, runtime); err != nil {
		return fmt.Errorf("--evaluator: %w", err)
	}
	t, err := r.evaluatorWords(ctx, ref)
	if err != nil {
		return err
	}
	r.look.judge, err = quality.NewJudge(r.look.evaluator, r.look.evaluator.Origin().Digest, t, r.evaluatorProtocol, r.settings.Confidence)
	if err != nil {
		return exit.Usagef("--evaluator %s: %w", ref, fault.WithoutName(err))
	}
	return nil
}

// evaluatorWords opens the evaluator's tokenizer: the named one, or the one in its folder.
func (r *benching) evaluatorWords(ctx context.Context, ref string) (*tokenize.Tokenizer, error) {
	if r.evaluatorTokenizer != "" {
		return setup.NamedTokenizer(ctx, r.streams, r.model.Offline(), "--evaluator-tokenizer", r.evaluatorTokenizer)
	}
	dir := ref
	if filepath.Ext(ref) == ".onnx" {
		dir = filepath.Dir(ref)
	}
	t, err := setup.BesideTokenizer(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = exit.Missingf("--evaluator %s: tokenizer.json is missing next to it: name its tokenizer with --evaluator-tokenizer", ref)
	}
	return t, err
}

// together measures, with a progress bar, what cells share, and appends each record to taken. A
// failure does not stop the other measurements.
func together[R any](r *benching, what, units string, taken *[]R, work int, measure func(on func(R) error) error) error {
	bar := kit.NewBar(r.streams, work-len(*taken), what, units)
	err := measure(func(record R) error {
		bar.Add(1)
		*taken = append(*taken, record)
		return r.keep(record)
	})
	bar.Clear()
	if err != nil {
		r.fail("the "+what, err)
	}
	return nil
}

// samplingErrors measures the sampling error on texts of First-Hitting.
func (r *benching) samplingErrors(ctx context.Context) error {
	s, q := r.settings, &r.look
	cfg := quality.Config{Samples: s.Quality.ErrorSamples, Seed: s.Seed, Confidence: s.Confidence}
	return together(r, "sampling error", "texts", &r.log.Errors, q.errors.Work(cfg.Samples), func(on func(bench.ErrorSample) error) error {
		return q.errors.Measure(ctx, cfg, r.log.Errors, on)
	})
}

// certificates computes certificates from runs of First-Hitting.
func (r *benching) certificates(ctx context.Context) error {
	s, c := r.settings, r.look.certificates
	cfg := certificate.Config{Runs: s.Quality.CertificateRuns, Seed: s.Seed, Confidence: s.Confidence}
	return together(r, "certificate", "runs", &r.log.Certified, c.Work(cfg.Runs), func(on func(bench.CertifiedRun) error) error {
		return c.Measure(ctx, cfg, r.log.Certified, on)
	})
}

// qualityOf returns the measured parts of a cell.
func (r *benching) qualityOf(c *bench.Cell) []bench.Quality {
	var out []bench.Quality
	add := func(part string, metrics []bench.Metric) {
		if len(metrics) > 0 {
			out = append(out, bench.NewQuality(c, part, metrics))
		}
	}
	add(bench.PartError, r.look.errors.Metrics(c))
	add(bench.PartCertificate, r.look.certificates.Metrics(c))
	if r.look.has(bench.PartText) {
		add(bench.PartText, bench.TextMetrics(c, r.log.Repetitions, r.settings.Confidence))
	}
	for _, q := range r.log.Quality {
		if q.Cell == c.ID {
			add(q.Part, q.Metrics)
		}
	}
	return out
}

// judgeCells measures a part on the samples of each cell, including cells with missing repetitions.
func (r *benching) judgeCells(ctx context.Context, part string) error {
	for i := range r.cells {
		c := &r.cells[i]
		if r.repeated(c) == 0 || r.judged(c, part) || ctx.Err() != nil {
			continue
		}
		metrics, err := r.part(ctx, c, part)
		switch {
		case ctx.Err() != nil:
			continue
		case err != nil:
			r.fail(c.ID+", "+part, err)
			continue
		}
		q := bench.NewQuality(c, part, metrics) // with no metrics if all samples have masks left
		r.log.Quality = append(r.log.Quality, q)
		if err := r.keep(q); err != nil {
			return err
		}
	}
	return nil
}

// judged reports whether a part of a cell's quality is measured.
func (r *benching) judged(c *bench.Cell, part string) bool {
	return slices.ContainsFunc(r.log.Quality, func(q bench.Quality) bool { return q.Cell == c.ID && q.Part == part })
}

// repeated returns the number of finished repetitions of a cell.
func (r *benching) repeated(c *bench.Cell) (n int) {
	for _, rep := range r.log.Repetitions {
		if rep.Cell == c.ID {
			n++
		}
	}
	return n
}

// part measures a part on the samples of a cell.
func (r *benching) part(ctx context.Context, c *bench.Cell, part string) ([]bench.Metric, error) {
	switch part {
	case bench.PartEvaluator:
		return bench.JudgeMetrics(ctx, r.look.judge, c, r.log.Repetitions, r.words.Decode)
	case bench.PartAudit:
		return bench.AuditMetrics(ctx, c, bench.AuditConfig{Texts: r.settings.Quality.AuditTexts, Seed: r.settings.Seed, Confidence: r.settings.Confidence, KeepBytes: setup.KeepBytes(0)})
	case bench.PartCausal:
		return bench.CausalMetrics(ctx, c, quality.Config{Samples: r.settings.Quality.CausalTexts, Seed: r.settings.Seed, Confidence: r.settings.Confidence})
	}
	e, err := likelihood.New(c.Model, likelihood.Options{Blocks: true})
	if err != nil {
		return nil, err
	}
	return bench.NELBOMetrics(ctx, e, c, r.log.Repetitions, r.settings.Quality.Draws, r.settings.Seed^nelboSeed, r.settings.Confidence)
}
