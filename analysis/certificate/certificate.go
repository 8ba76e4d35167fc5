package certificate

import (
	"context"
	"errors"
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/quality"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Run is a run of first-hitting with the samplers beside it. It depends on the
// network, the canvas, the sampler, the seed and its index.
type Run struct {
	Index uint64 `json:"index"`
	// Log are log P_N(x|Z) − log P_FHS(x|Z) of the samplers, in their order: −Inf where one
	// cannot give the text.
	Log []estimate.Number `json:"log"`
	// Asked counts the canvases that were asked, Rows the positions of these whose logits were.
	Asked int `json:"asked"`
	Rows  int `json:"rows,omitempty"`
}

// Config is the number of runs and how they are made.
type Config struct {
	// First..Runs−1 are their indices: Runs is their number where First is 0.
	First, Runs int
	Seed        uint64
	// Batch is the number of runs that share calls; 0 is 1. On a network the last bits of a
	// run depend on it.
	Batch int
	// Longest is the longest block that a sampler on a grid is averaged over: one that
	// makes longer blocks has the blocks of its plan, which bounds it less tightly. A run
	// keeps up to Longest²/2 rows, and those of the longest block of a plan, four bytes a
	// column; 0 is 32.
	Longest int
	// Confidence is the probability of all intervals and limits; 0 is 0.95.
	Confidence float64
	// OnRun, where it is not nil, is called for each run, in the order of their indices.
	// An error ends the study.
	OnRun func(Run) error
}

// Study holds runs. It does not change.
type Study struct {
	// D is the number of free positions.
	D        int
	Samplers []*catalog.Sampler
	// Runs are by ascending index.
	Runs       []Run
	Confidence float64
	// Calls counts the network's calls for the new runs.
	Calls int
	// apart are log p* of the collision bounds, −Inf where there are none; averaged is set
	// where terms are averages over the cuts of an order, for which e^W ≥ p* holds.
	apart    []float64
	averaged []bool
}

// Bound is the bounds on a sampler's distances.
type Bound struct {
	// TV estimates a number that TV(P_FHS,P_N) does not exceed, KL one that KL(P_FHS‖P_N) in
	// nats does not. Their intervals are from 0, which neither number is below, to the limit: a
	// standard error knows nothing of the rare texts that may carry most of a mean. Where all
	// runs are alike there is none.
	TV, KL estimate.Estimate
	// TVLimit and KLLimit are bounds on them that each hold with the probability Confidence
	// at least, for any number of runs: [estimate.UpperLimit], or the collision bound where
	// that is lower.
	TVLimit, KLLimit float64
}

// Measure runs first-hitting on a canvas of ids, MASK at the free positions, and sets
// samplers beside it. They must draw tokens alike, and first-hitting then draws as they do.
// A run takes as many calls as there are free positions, of one canvas each, whatever the
// number of samplers; on a time-conditioned network a canvas more for each other time that
// a sampler asks at. Samplers without a plan, and those whose order is not uniform, are
// refused.
//
// Where the context ends first its error comes with the study of the runs that were
// finished.
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
			return nil, fault.Errorf("certificate", "%s and %s draw tokens in different ways: give all samplers one temperature, top-k and top-p", ss[0], s)
		}
		apart, err := quality.Collision(s, st.D)
		if law, _ := s.Law(); err != nil || spec.TimeConditioned && !law.FirstHitting() {
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

// measure makes the runs from..to together.
func (st *Study) measure(ctx context.Context, net samplers.Network, m *method, canvas []int, cfg Config, from, to int) error {
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
		if st.Runs = append(st.Runs, r); cfg.OnRun != nil {
			if err := cfg.OnRun(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// Terms are what each run adds to the bounds of sampler i: (1 − e^W)_+ to that of TV and −W,
// in nats, to that of KL.
func (st *Study) Terms(i int) (tv, kl []float64) {
	for _, r := range st.Runs {
		w := float64(r.Log[i])
		if st.averaged[i] {
			w = max(w, st.apart[i]) // where what was left out of an average is all there is
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

// UpTo gives the mean of a certificate's terms the interval from 0 to its limit. A mean of terms
// that are all alike loses its standard error.
func UpTo(e estimate.Estimate, limit float64) estimate.Estimate {
	if e.Lo, e.Hi = min(0, e.Mean), limit; e.SE == 0 && limit > e.Mean {
		e.SE = math.Inf(1)
	}
	return e
}

// limit is an upper limit of the mean of terms that are at most high. Those below low count
// as low, which makes their mean no smaller.
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

// ErrNoPlan is why samplers without a plan have no bound.
var ErrNoPlan = errors.New("no plan to compare with first-hitting's: the order of reveals depends on the network's rows, blocks, corrections, guidance or constraints")

// Check returns why a sampler has no bound on d free positions; nil where it has one.
func Check(s *catalog.Sampler, d int) error {
	law, ok := s.Law()
	switch {
	case d < 1:
		return fault.Errorf("certificate", "the canvas has no free position: mask at least one")
	case !ok:
		return fault.Errorf("certificate", "%s has %w", s, ErrNoPlan)
	case law.Fixed:
		return fault.Errorf("certificate", "%s: its order is not uniform, so that even one position a call has another law than first-hitting", s.Settings().Sampler)
	case law.Sizes != nil:
		if _, err := law.Sizes(d); err != nil {
			return fault.Errorf("samplers", "%w", err)
		}
	}
	return nil
}
