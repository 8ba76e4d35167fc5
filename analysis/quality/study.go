package quality

import (
	"context"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
	"mdmgen/samplers/catalog"
)

// Sample is what is known of one text drawn from first-hitting. It depends on the model,
// the target, the samplers, the seed and its index, and on no other sample, but for its last
// bits on a network: those on which others share its calls, which the indices tell.
type Sample struct {
	// Index with the seed determines the text.
	Index uint64 `json:"index"`
	// Tokens [d] are those at the free positions.
	Tokens []int `json:"tokens"`
	// FHS is −log P_FHS in nats.
	FHS float64 `json:"fhs"`
	// NegLog has −log P of each sampler, +Inf where it cannot give the text.
	NegLog []estimate.Number `json:"neg_log"`
	// QuadratureError is the greatest stated error of these values, 0 but for a
	// time-conditioned network, whose first-hitting law is a quadrature.
	QuadratureError float64 `json:"quadrature_error,omitempty"`
	// Rows counts the network rows that it took.
	Rows int `json:"rows"`
}

// Config configures a study.
type Config struct {
	// Samples is the number of texts, with the indices 0..Samples−1.
	Samples int
	Seed    uint64
	// Confidence is that of the study's intervals; 0 is 0.95.
	Confidence float64
	// OnSample, where it is not nil, is called for each sample as it is known, in
	// ascending order of the indices. An error ends the study.
	OnSample func(Sample) error
}

// Study holds texts of first-hitting with exact log-probabilities under several samplers.
// It does not change.
type Study struct {
	// Samples are the texts by ascending index.
	Samples []Sample
	// Clean is the probability that each sampler leaves no mask; Apart is log p* of each
	// ([Collision]), NaN where nothing is claimed: for an order that is not uniform, and for
	// a time-conditioned network.
	Clean, Apart []float64
	// FullSupport is [likelihood.Evaluator.FullSupport].
	FullSupport bool
	Confidence  float64
}

// chunkRows is how many network rows are asked for between two samples' reports.
const chunkRows = 1 << 13

// Measure makes a study: the free positions of t are drawn from first-hitting, the others
// are given. Each sample takes 2^d−1 network rows for all samplers together, and where the
// network is time-conditioned as many a node of FHS's quadrature and a step of each grid.
// Samplers must draw tokens as the evaluator does. A [likelihood.TooLargeError] refuses too
// many free positions. Where the context ends first its error comes with the study of the samples
// that were finished.
func Measure(ctx context.Context, e *likelihood.Evaluator, t likelihood.Target, ss []*catalog.Sampler, cfg Config) (*Study, error) {
	if cfg.Samples < 1 {
		return nil, fault.Errorf("quality", "%d samples: must be at least 1", cfg.Samples)
	}
	d, f := len(t.Free), e.Facts()
	if d > likelihood.MaxFree {
		return nil, &likelihood.TooLargeError{Free: d, Rows: math.Ldexp(1, d), Most: likelihood.MaxFree}
	}
	st := &Study{FullSupport: e.FullSupport(), Confidence: cfg.Confidence}
	for _, s := range ss {
		if !s.Settings().Draw.Same(e.Draw()) {
			return nil, fault.Errorf("quality", "%s draws tokens in another way than first-hitting here: give all samplers one temperature, top-k and top-p", s.Settings().Sampler)
		}
		st.Clean = append(st.Clean, math.Exp(LogClean(s, d)))
		apart, err := Collision(s, max(d, 1))
		if err != nil || f.TimeConditioned {
			apart = math.NaN()
		}
		st.Apart = append(st.Apart, apart)
	}
	fhs, err := catalog.New(catalog.Options{Draw: e.Draw()}, f.Spec())
	if err != nil {
		return nil, err
	}
	all := append([]*catalog.Sampler{fhs}, ss...)
	most := max(1, chunkRows>>d)
	for from := 0; from < cfg.Samples && err == nil; from += most {
		err = st.measure(ctx, e, t, all, cfg, from, min(from+most, cfg.Samples))
	}
	if err != nil && (ctx.Err() == nil || len(st.Samples) == 0) {
		return nil, err
	}
	return st, err
}

// measure adds the samples from..to, whose texts are drawn together.
func (st *Study) measure(ctx context.Context, e *likelihood.Evaluator, t likelihood.Target, all []*catalog.Sampler, cfg Config, from, to int) error {
	texts, totals, err := e.Sample(ctx, t, all[0], cfg.Seed, from, to-from)
	if err != nil {
		return err
	}
	var targets []likelihood.Target
	for _, ids := range texts {
		targets = append(targets, likelihood.Target{IDs: ids, Free: t.Free})
	}
	drawn := totals.Rows / len(texts)
	return exactLaws(ctx, e, targets, all, func(i int, laws []likelihood.Exact, rows int) error {
		s := Sample{Index: uint64(from + i), FHS: laws[0].NegLog, Rows: rows + drawn}
		for _, l := range t.Free {
			s.Tokens = append(s.Tokens, targets[i].IDs[l])
		}
		for k, x := range laws {
			if k > 0 {
				s.NegLog = append(s.NegLog, estimate.Number(x.NegLog))
			}
			s.QuadratureError = max(s.QuadratureError, x.QuadratureError)
		}
		st.Samples = append(st.Samples, s)
		if cfg.OnSample != nil {
			return cfg.OnSample(s)
		}
		return nil
	})
}

// exactLaws calls emit with −log P of every target under every sampler, in order, and the number of
// its network rows.
func exactLaws(ctx context.Context, e *likelihood.Evaluator, ts []likelihood.Target, ss []*catalog.Sampler, emit func(i int, laws []likelihood.Exact, rows int) error) error {
	if !sharesTables(e, ss) {
		for i, t := range ts {
			before := e.Totals().Rows
			laws, err := e.Laws(ctx, t, ss)
			if err == nil {
				err = emit(i, laws, e.Totals().Rows-before)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	before := e.Totals().Rows
	_, laws, err := e.TableLaws(ctx, ts, ss, false)
	if err != nil {
		return err
	}
	rows := (e.Totals().Rows - before) / len(ts)
	for i := range laws {
		if err := emit(i, laws[i], rows); err != nil {
			return err
		}
	}
	return nil
}

// sharesTables reports whether tables of subsets have all laws.
func sharesTables(e *likelihood.Evaluator, ss []*catalog.Sampler) bool {
	return !e.Facts().TimeConditioned && !slices.ContainsFunc(ss, func(s *catalog.Sampler) bool { return !likelihood.TableTells(s) })
}
