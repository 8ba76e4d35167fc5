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

// Sample holds the log-probabilities of one text drawn from first-hitting. It depends on the model,
// the target, the samplers, the seed and its index. On a network its last bits also depend on the
// samples that share its calls, which the indices determine.
type Sample struct {
	// Index determines the text, together with the seed.
	Index uint64 `json:"index"`
	// Tokens [d] are the tokens at the free positions.
	Tokens []int `json:"tokens"`
	// FHS is −log P_FHS in nats.
	FHS float64 `json:"fhs"`
	// NegLog holds −log P of each sampler, +Inf if it cannot produce the text.
	NegLog []estimate.Number `json:"neg_log"`
	// QuadratureError is the greatest reported error of these values, 0 except for a
	// time-conditioned network, whose first-hitting law is computed by quadrature.
	QuadratureError float64 `json:"quadrature_error,omitempty"`
	// Rows counts the network rows of the text.
	Rows int `json:"rows"`
}

// Config configures a study.
type Config struct {
	// Samples is the number of texts, with the indices 0..Samples−1.
	Samples int
	Seed    uint64
	// Confidence is the level of the study's intervals; 0 means 0.95.
	Confidence float64
	// OnSample, if not nil, is called with each sample when it is complete, in ascending order of
	// the indices. An error ends the study.
	OnSample func(Sample) error
}

// Study holds texts of first-hitting with exact log-probabilities under several samplers.
// It does not change.
type Study struct {
	// Samples are the texts by ascending index.
	Samples []Sample
	// Clean is the probability that each sampler leaves no mask; Apart is log p* of each
	// ([Collision]), NaN if there is no bound: for an order that is not uniform, and for a
	// time-conditioned network.
	Clean, Apart []float64
	// FullSupport is [likelihood.Evaluator.FullSupport].
	FullSupport bool
	Confidence  float64
}

// chunkRows is the number of network rows computed between reports of samples.
const chunkRows = 1 << 13

// Measure makes a study: the free positions of t are drawn from first-hitting, the others are
// given. Each sample takes 2^d−1 network rows for all samplers together; for a time-conditioned
// network it takes as many per node of FHS's quadrature and per step of each grid. Samplers must
// draw tokens as the evaluator does. Too many free positions are a [likelihood.TooLargeError]. If
// the context ends first, Measure returns its error with the study of the finished samples.
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
			return nil, fault.Errorf("quality", "%s draws tokens differently from first-hitting here: give all samplers the same temperature, top-k and top-p", s.Settings().Sampler)
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

// exactLaws calls emit for every target, in order, with −log P under every sampler and the number
// of its network rows.
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

// sharesTables reports whether tables of subsets give all laws.
func sharesTables(e *likelihood.Evaluator, ss []*catalog.Sampler) bool {
	return !e.Facts().TimeConditioned && !slices.ContainsFunc(ss, func(s *catalog.Sampler) bool { return !likelihood.TableHasLaw(s) })
}
