package certificate

import (
	"context"
	"errors"
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Run is a run of first-hitting with its terms for the samplers. It depends on the network, the
// canvas, the samplers, the seed and its index.
type Run struct {
	Index uint64 `json:"index"`
	// Log holds log P_N(x|Z) − log P_FHS(x|Z) of the samplers, in their order, −Inf if a sampler
	// cannot produce the text.
	Log []estimate.Number `json:"log"`
	// Asked counts the canvases of the run's calls, Rows the positions whose logits were computed.
	Asked int `json:"asked"`
	Rows  int `json:"rows,omitempty"`
}

// Config configures the runs.
type Config struct {
	// First..Runs−1 are the indices of the runs: Runs is their number if First is 0.
	First, Runs int
	Seed        uint64
	// Batch is the number of runs that share calls; 0 means 1. On a network the last bits of a run
	// depend on it.
	Batch int
	// Longest is the length of the longest block for which a sampler on a grid is averaged over all
	// cuts. A sampler with longer blocks uses the blocks of its plan, which gives a less tight
	// bound. A run keeps up to Longest²/2 rows, and those of a plan's longest block, four bytes per
	// column. 0 means 32.
	Longest int
	// Confidence is the level of all intervals and limits; 0 means 0.95.
	Confidence float64
	// Done are the runs from index 0 on of an earlier study of the same configuration.
	Done []Run
	// OnRun, if not nil, is called with each further run, in the order of their indices. An error
	// ends the study.
	OnRun func(Run) error
}

// Study holds runs. It does not change.
type Study struct {
	// D is the number of free positions.
	D        int
	Samplers []*catalog.Sampler
	// Runs are in ascending order of their indices.
	Runs       []Run
	Confidence float64
	// Calls counts the network's calls for the runs.
	Calls int
	// apart holds log p* of the collision bounds, −Inf for no bound; averaged is set for samplers
	// whose terms are averages over the cuts of an order, for which e^W ≥ p*.
	apart    []float64
	averaged []bool
}

// Bound holds the bounds on a sampler's distances.
type Bound struct {
	// TV estimates an upper bound on TV(P_FHS,P_N), KL one on KL(P_FHS‖P_N) in nats. Their
	// intervals extend from 0, a lower bound on both, to the limit, since a standard error misses
	// rare texts that may carry most of a mean. If all runs are equal there is no standard error.
	TV, KL estimate.Estimate
	// TVLimit and KLLimit are upper bounds on these, each valid with probability at least
	// Confidence for any number of runs: [estimate.UpperLimit], or the collision bound if that is
	// lower.
	TVLimit, KLLimit float64
}

// Measure runs first-hitting on a canvas of ids, with MASK at the free positions, and computes the
// terms of samplers. The samplers must draw tokens alike, and first-hitting draws as they do. A run
// takes as many calls of one canvas as there are free positions, for any number of samplers; a
// time-conditioned network takes one more canvas for each other time at which a sampler calls it.
// Samplers without a plan, or whose order is not uniform, are an error.
//
// If the context ends first, Measure returns its error with the study of the finished runs.
func Measure(ctx context.Context, net samplers.Network, canvas []int, ss []*catalog.Sampler, cfg Config) (*Study, error) {
	spec := net.Spec()
	st := &Study{D: len(spec.Masked(canvas)), Samplers: ss, Confidence: cfg.Confidence}
	switch {
	case cfg.First < 0 || cfg.Runs <= cfg.First:
		return nil, fault.Errorf("certificate", "%d runs: must be at least 1", cfg.Runs-cfg.First)
	case len(ss) == 0:
		return nil, fault.Errorf("certificate", "no sampler is given")
	}
	draw := ss[0].Settings().Draw
	for _, s := range ss {
		if err := Check(s, st.D); err != nil {
			return nil, err
		}
		if !draw.Same(s.Settings().Draw) {
			return nil, fault.Errorf("certificate", "%s and %s draw tokens in different ways: give all samplers the same temperature, top-k and top-p", ss[0], s)
		}
		apart, err := s.Collision(st.D)
		if law, _ := s.Law().(samplers.BySizes); err != nil || spec.TimeConditioned && !law.FHS() {
			apart = math.Inf(-1)
		}
		st.apart = append(st.apart, apart)
	}
	m, err := newMethod(spec, ss, draw, st.D, cfg)
	if err != nil {
		return nil, err
	}
	for _, a := range m.averages {
		st.averaged = append(st.averaged, a != nil)
	}
	batch := max(cfg.Batch, 1)
	for from := cfg.First; from < cfg.Runs && err == nil; from += batch {
		err = st.measure(ctx, net, m, canvas, cfg, from, min(from+batch, cfg.Runs))
	}
	if err != nil && (ctx.Err() == nil || len(st.Runs) == 0) {
		return nil, err
	}
	return st, err
}

// measure performs the runs from..to together.
func (st *Study) measure(ctx context.Context, net samplers.Network, m *method, canvas []int, cfg Config, from, to int) error {
	if to <= len(cfg.Done) {
		st.Runs = append(st.Runs, cfg.Done[from:to]...)
		return nil
	}
	clear(m.done)
	sequences := func(yield func(samplers.Sequence) bool) {
		for i := uint64(from); i < uint64(to); i++ {
			if !yield(samplers.Sequence{Index: i, Canvas: canvas, Method: indexed{m, i}}) {
				return
			}
		}
	}
	totals, err := samplers.Sample(ctx, net, sequences, samplers.Config{Draw: st.Samplers[0].Settings().Draw, Seed: cfg.Seed, Batch: to - from}, func(samplers.Result) error { return nil })
	st.Calls += totals.NetworkCalls
	if err != nil {
		return err
	}
	for i := from; i < to; i++ {
		r := m.done[uint64(i)]
		if st.Runs = append(st.Runs, r); cfg.OnRun != nil && i >= len(cfg.Done) {
			if err := cfg.OnRun(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// Terms returns the terms of each run for the bounds on sampler i: (1 − e^W)_+ for TV, and −W in
// nats for KL.
func (st *Study) Terms(i int) (tv, kl []float64) {
	for _, r := range st.Runs {
		w := float64(r.Log[i])
		if st.averaged[i] {
			w = max(w, st.apart[i]) // if only blocks omitted from the average are left
		}
		tv, kl = append(tv, max(0, -math.Expm1(w))), append(kl, 0-w)
	}
	return tv, kl
}

// Bound estimates the bounds on sampler i.
func (st *Study) Bound(i int) Bound {
	tv, kl := st.Terms(i)
	out := Bound{TVLimit: 0 - math.Expm1(st.apart[i]), KLLimit: 0 - st.apart[i]}
	most := 1.0
	if st.averaged[i] {
		most = out.TVLimit
		out.KLLimit = min(out.KLLimit, limit(kl, -out.KLLimit, out.KLLimit, st.Confidence))
	}
	out.TVLimit = min(out.TVLimit, limit(tv, 0, most, st.Confidence))
	out.TV, out.KL = UpTo(estimate.Mean(tv, st.Confidence), out.TVLimit), UpTo(estimate.Mean(kl, st.Confidence), out.KLLimit)
	return out
}

// UpTo sets the interval of the mean of a certificate's terms to 0..limit. If all terms are equal,
// it removes the standard error, unless they are the limit.
func UpTo(e estimate.Estimate, limit float64) estimate.Estimate {
	e.Lo, e.Hi, e.Warnings = min(0, e.Mean), limit, nil
	switch equal := e.SE == 0 || math.IsInf(e.SE, 1); {
	case equal && limit > e.Mean:
		e.SE = math.Inf(1)
	case equal:
		e.SE = 0
	}
	return e
}

// limit returns an upper limit of the mean of terms that are at most high. Terms below low count as
// low, which does not decrease their mean.
func limit(x []float64, low, high, confidence float64) float64 {
	if !(high > low) || math.IsInf(high, 1) {
		return high
	}
	scaled := make([]float64, len(x))
	for i, v := range x {
		scaled[i] = min(max((v-low)/(high-low), 0), 1)
	}
	return low + (high-low)*estimate.UpperLimit(scaled, confidence)
}

// ErrNoPlan is the reason why samplers without a plan have no bound.
var ErrNoPlan = errors.New("no plan to compare with First-Hitting's: the order of reveals depends on the network's rows, blocks, corrections, guidance or constraints")

// Check returns an error if a sampler has no bound on d free positions.
func Check(s *catalog.Sampler, d int) error {
	if d < 1 {
		return fault.Errorf("certificate", "the canvas has no free position: mask at least one")
	}
	switch law := s.Law().(type) {
	case samplers.ByList:
		return fault.Errorf("certificate", "%s: its order is not uniform, so its law differs from First-Hitting's even with one position per call", s.Settings().Sampler)
	case samplers.Planned:
		_, err := law.Collision(d)
		return err
	}
	return fault.Errorf("certificate", "%s has %w", s, ErrNoPlan)
}
