package bound

import (
	"context"
	"math"

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
// number. A Study belongs to one goroutine.
type Study struct {
	*Tally
	m       model.Model
	e       *likelihood.Evaluator
	ts      []likelihood.Target
	cluster []int
	cfg     Config
	// fhs is the first-hitting sampler, for bounds by plans.
	fhs *catalog.Sampler
	// canvases are the canvases of certificates, certified the samplers that have one.
	canvases  [][]int
	certified []*catalog.Sampler
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
	switch {
	case len(ts) == 0:
		return nil, fault.Errorf("bound", "no windows")
	case cfg.Plans == 1:
		return nil, fault.Errorf("bound", "1 plan: must be at least 2")
	}
	s := &Study{m: m, e: e, ts: ts, cluster: cluster, cfg: cfg}
	var at []int
	at, s.certified, s.canvases = certifiable(m, ts, cfg.Cases)
	b := Basis{
		Windows: len(ts), Clustered: cluster != nil, Plans: cfg.Plans, Confidence: cfg.Confidence, TimeConditioned: e.Facts().TimeConditioned,
		Canvases: len(s.canvases), Runs: max(2, (max(certificateRuns, 2*len(ts))+len(s.canvases)-1)/len(s.canvases)),
	}
	b.PerChunk = windowsOfChunk(mostFree(ts), cfg.Plans)
	if cfg.Baseline != nil {
		b.Baseline = cfg.Baseline.Name
	}
	for _, c := range cfg.Cases {
		b.Cases = append(b.Cases, basicCase{Case: c, Most: number(math.NaN())})
	}
	for k, most := range collisions(m, ts, s.certified) {
		b.Cases[at[k]].Most = number(most)
	}
	var err error
	if cfg.Plans > 0 {
		s.fhs, err = catalog.New(catalog.Options{}, e.Facts().Spec())
	} else {
		err = foresee(b.Cases, ts)
	}
	if err == nil {
		s.Tally, err = NewTally(b)
	}
	return s, err
}

// foresee sets what is known of the cases without rows, for each number of free positions.
func foresee(cases []basicCase, ts []likelihood.Target) error {
	apart, err := newAparts(ts, each(cases, func(c basicCase) Case { return c.Case }))
	for i := range cases {
		c := &cases[i]
		c.Calls, c.Apart = make(map[int]number), make(map[int]number)
		for d := range apart {
			c.Apart[d], c.Calls[d] = number(apart[d][i]), number(math.NaN())
			if reveal, fill, err := c.Sampler.ExpectedCalls(d); err == nil {
				c.Calls[d] = number(reveal + fill)
			}
		}
	}
	return err
}

// windowsOfChunk returns the number of windows that take about chunkRows rows, with at most d free
// positions each.
func windowsOfChunk(d, plans int) int {
	rows := likelihood.ExactRows(d)
	if plans > 0 {
		rows = float64(plans * d)
	}
	return min(max(int(chunkRows/rows), 1), chunkWindows)
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
	for i := range out.Windows {
		w := &out.Windows[i]
		if w.Length = len(ts[i].IDs); s.cluster != nil {
			w.Document = s.cluster[from+i]
		}
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
	each := s.basis.Runs
	from, last := s.runsOf(chunk)
	for from < last {
		at := from / each
		to := min(last, (at+1)*each)
		first := from - at*each
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
