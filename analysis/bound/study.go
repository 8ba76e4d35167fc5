package bound

import (
	"context"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/samplers/catalog"
)

// chunkWindows is the greatest number of windows in a chunk, so that even short windows can be
// distributed.
const chunkWindows = 16

// Study checks the paper's Theorem 4 on windows of a text. Its work is split into chunks: some
// windows, and a share of the certificates' runs. A chunk depends only on the settings and its
// number. [Study.Take] combines chunks in their order, wherever they were computed. A Study belongs
// to one goroutine.
type Study struct {
	m       model.Model
	e       *likelihood.Evaluator
	ts      []likelihood.Target
	cluster []int
	cfg     Config
	// fhs is the first-hitting sampler, for bounds by plans.
	fhs *catalog.Sampler
	// canvases are the canvases of certificates, each the number of first-hitting runs on every
	// canvas. at lists the cases that have a certificate, certified their samplers.
	canvases  [][]int
	each      int
	at        []int
	certified []*catalog.Sampler
	// apart holds the collision bounds if values are exact.
	apart logCollisions
	// per is the number of windows in every chunk but the last.
	per int

	// taken joins the chunks taken so far.
	taken  Chunk
	chunks int
}

// Chunk holds the results of a chunk of a [Study].
type Chunk struct {
	Windows []window `json:"windows,omitempty"`
	// Baseline holds log p of each window if there is a baseline.
	Baseline []number `json:"reference,omitempty"`
	// Certificates holds, for each sampler with a certificate, the terms by run.
	Certificates [][]number `json:"certificates,omitempty"`
}

// NewStudy returns a study of the windows ts. Without cfg.Plans each window must have at most
// [subset.MaxFree] free positions, and its values are exact, from one table of 2^d rows. A
// time-conditioned network needs cfg.Plans. With cfg.Plans, K, a window takes K·d rows, and on a
// time-conditioned network K more, and may have any length: K orders of first-hitting have costs −log p, whose
// mean is an unbiased estimate of the NELBO, and −log of the mean p is an upper bound on −log P_FHS
// in expectation. Their difference is a lower bound on the gap in expectation, which increases with
// K.
//
// cluster has a number for each window, the same for dependent windows; nil if all windows are
// independent.
func NewStudy(m model.Model, e *likelihood.Evaluator, ts []likelihood.Target, cluster []int, cfg Config) (*Study, error) {
	s := &Study{m: m, e: e, ts: ts, cluster: cluster, cfg: cfg}
	var err error
	switch {
	case len(ts) == 0:
		return nil, fault.Errorf("bound", "no windows")
	case cfg.Plans == 1:
		return nil, fault.Errorf("bound", "1 plan: must be at least 2")
	case cfg.Plans > 0:
		s.fhs, err = catalog.New(catalog.Options{}, e.Facts().Spec())
	default:
		s.apart, err = newAparts(e, ts, cfg.Cases)
	}
	if err != nil {
		return nil, err
	}
	s.at, s.certified, s.canvases = certifiable(m, ts, cfg.Cases)
	s.each = max(2, (max(certificateRuns, 2*len(ts))+len(s.canvases)-1)/len(s.canvases))
	s.taken = Chunk{Certificates: make([][]number, len(s.certified))}
	s.per = s.windowsOfChunk()
	return s, nil
}

// windowsOfChunk returns the number of windows that take about chunkRows rows, at the greatest
// number of free positions.
func (s *Study) windowsOfChunk() int {
	d := mostFree(s.ts)
	rows := likelihood.ExactRows(d)
	switch {
	case s.cfg.Plans > 0:
		rows = float64(s.cfg.Plans * d)
	}
	return min(max(int(chunkRows/rows), 1), chunkWindows)
}

// Chunks returns the number of chunks.
func (s *Study) Chunks() int { return (len(s.ts) + s.per - 1) / s.per }

// Windows returns the number of windows in every chunk but the last.
func (s *Study) Windows() int { return s.per }

// share returns a chunk's share from..to of n things.
func (s *Study) share(chunk, n int) (from, to int) {
	return chunk * n / s.Chunks(), (chunk + 1) * n / s.Chunks()
}

// windowsOf returns the windows from..to of a chunk.
func (s *Study) windowsOf(chunk int) (from, to int) {
	return chunk * s.per, min((chunk+1)*s.per, len(s.ts))
}

// Size returns the number of windows in a chunk.
func (s *Study) Size(chunk int) int {
	from, to := s.windowsOf(chunk)
	return to - from
}

// Work computes a chunk.
func (s *Study) Work(ctx context.Context, chunk int) (out Chunk, err error) {
	from, to := s.windowsOf(chunk)
	ts := s.ts[from:to]
	if s.cfg.Plans == 0 {
		out.Windows, err = (&worker{e: s.e, cases: s.cfg.Cases}).windows(ctx, ts)
	} else {
		out.Windows, err = s.byPlans(ctx, from, to)
	}
	if err != nil {
		return Chunk{}, err
	}
	if r := s.cfg.Baseline; r != nil {
		logp, err := r.Distribution.LogProb(ctx, ts)
		if err != nil {
			return Chunk{}, fault.Errorf("bound", "%s: %w", r.Name, err)
		}
		out.Baseline = numbers(logp)
	}
	return out, s.certify(ctx, chunk, &out)
}

// certify computes a chunk's share of the certificates' runs.
func (s *Study) certify(ctx context.Context, chunk int, out *Chunk) error {
	if len(s.certified) == 0 {
		return nil
	}
	out.Certificates = make([][]number, len(s.certified))
	from, last := s.share(chunk, s.each*len(s.canvases))
	for from < last {
		at := from / s.each
		to := min(last, (at+1)*s.each)
		first := from - at*s.each
		runs := certificate.Config{First: first, Runs: first + to - from, Seed: s.cfg.Seed ^ seedCertificates + uint64(at), Batch: min(to-from, certificateBatch)}
		st, err := certificate.Measure(ctx, s.m, s.canvases[at], s.certified, runs)
		if err != nil {
			return err
		}
		for k := range s.certified {
			tv, _ := st.Terms(k)
			out.Certificates[k] = append(out.Certificates[k], numbers(tv)...)
		}
		from = to
	}
	return nil
}

// Take adds the next chunk, in order. It returns an error if the chunk does not belong to this
// study.
func (s *Study) Take(c Chunk) error {
	from, to := s.windowsOf(s.chunks)
	begin, end := s.share(s.chunks, s.each*len(s.canvases))
	samplers, cases := len(s.certified), 0
	if s.cfg.Plans == 0 {
		cases = len(s.cfg.Cases)
	}
	ok := len(c.Windows) == to-from && len(c.Certificates) == samplers && (s.cfg.Baseline == nil || len(c.Baseline) == to-from)
	for _, w := range c.Windows {
		ok = ok && len(w.Cases) == cases
	}
	for _, terms := range c.Certificates {
		ok = ok && len(terms) == end-begin
	}
	if !ok {
		return fault.Errorf("bound", "chunk %d: its windows or runs differ from this study's", s.chunks)
	}
	t := &s.taken
	t.Windows, t.Baseline = append(t.Windows, c.Windows...), append(t.Baseline, c.Baseline...)
	for k, terms := range c.Certificates {
		t.Certificates[k] = append(t.Certificates[k], terms...)
	}
	s.chunks++
	return nil
}

// certificates returns the terms of the certificates in the chunks taken.
func (s *Study) certificates() certified {
	c := certified{at: s.at, most: collisions(s.m, s.ts, s.certified)}
	for _, terms := range s.taken.Certificates {
		c.terms = append(c.terms, floats(terms))
	}
	if len(s.canvases) > 1 && len(s.certified) > 0 {
		for i := range c.terms[0] {
			window := i / s.each
			if s.cluster != nil {
				window = s.cluster[window]
			}
			c.cluster = append(c.cluster, window)
		}
	}
	return c
}
