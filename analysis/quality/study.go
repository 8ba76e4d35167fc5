package quality

import (
	"context"
	"math"

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
	// Rows counts the network rows of the text.
	Rows int `json:"rows"`
}

// Config configures a study, or [TwoLaws] by its first three fields.
type Config struct {
	// Samples is the number of texts, with the indices 0..Samples−1.
	Samples int
	Seed    uint64
	// Confidence is the level of the study's intervals; 0 means 0.95.
	Confidence float64
	// Done are the first samples, from an earlier study of the same configuration.
	Done []Sample
	// OnSample, if not nil, is called with each further sample when it is complete, in ascending
	// order of the indices. An error ends the study.
	OnSample func(Sample) error
}

// Study holds texts of first-hitting with exact log-probabilities under several samplers.
// It does not change.
type Study struct {
	// Samples are the texts by ascending index.
	Samples []Sample
	// Clean is the probability that each sampler leaves no mask; Apart is log p* of each
	// ([catalog.Sampler.Collision]), NaN if there is no bound.
	Clean, Apart []float64
	// FullSupport is [likelihood.Evaluator.FullSupport].
	FullSupport bool
	Confidence  float64
}

// chunkRows is the number of network rows computed between reports of samples.
const chunkRows = 1 << 13

// Measure makes a study: the free positions of t are drawn from first-hitting, the others are
// given. Each sample takes 2^d−1 network rows for all samplers together. Samplers must draw tokens
// as the evaluator does. Too many free positions are a [samplers.TooLargeError], and a
// time-conditioned network, which first-hitting queries at random times, is an error. If the context
// ends first, Measure returns its error with the study of the finished samples.
func Measure(ctx context.Context, e *likelihood.Evaluator, t likelihood.Target, ss []*catalog.Sampler, cfg Config) (*Study, error) {
	if cfg.Samples < 1 {
		return nil, fault.Errorf("quality", "%d samples: must be at least 1", cfg.Samples)
	}
	d, f := len(t.Free), e.Facts()
	fhs, err := catalog.New(catalog.Options{Draw: e.Draw()}, f.Spec())
	if err == nil {
		err = e.Fits(d, fhs)
	}
	if err != nil {
		return nil, err
	}
	st := &Study{FullSupport: e.FullSupport(), Confidence: cfg.Confidence}
	for _, s := range ss {
		if !s.Settings().Draw.Same(e.Draw()) {
			return nil, fault.Errorf("quality", "%s draws tokens differently from First-Hitting here: give all samplers the same temperature, top-k and top-p", s.Settings().Sampler)
		}
		st.Clean = append(st.Clean, math.Exp(float64(d)*math.Log1p(-s.Left())))
		apart, err := s.Collision(max(d, 1))
		if err != nil {
			apart = math.NaN()
		}
		st.Apart = append(st.Apart, apart)
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
	if to <= len(cfg.Done) {
		st.Samples = append(st.Samples, cfg.Done[from:to]...)
		return nil
	}
	texts, totals, err := e.Sample(ctx, t, all[0], cfg.Seed, from, to-from)
	if err != nil {
		return err
	}
	var targets []likelihood.Target
	for _, ids := range texts {
		targets = append(targets, likelihood.Target{IDs: ids, Free: t.Free})
	}
	drawn := totals.Rows / len(texts)
	before := e.Totals().Rows
	_, laws, err := e.TableLaws(ctx, targets, all, false)
	if err != nil {
		return err
	}
	drawn += (e.Totals().Rows - before) / len(texts)
	for i, laws := range laws {
		s := Sample{Index: uint64(from + i), FHS: laws[0].NegLog, Rows: drawn}
		for _, l := range t.Free {
			s.Tokens = append(s.Tokens, targets[i].IDs[l])
		}
		for _, x := range laws[1:] {
			s.NegLog = append(s.NegLog, estimate.Number(x.NegLog))
		}
		st.Samples = append(st.Samples, s)
		if cfg.OnSample != nil && from+i >= len(cfg.Done) {
			if err := cfg.OnSample(s); err != nil {
				return err
			}
		}
	}
	return nil
}
