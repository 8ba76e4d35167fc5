package laws

import (
	"context"
	"math"
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// maxOutcomes bounds the number of outcomes enumerated for a sampler without a likelihood: some
// ten seconds.
const maxOutcomes = 2_000_000

// SamplerLaw returns the exact law over states of a sampler on a world opened by [New]. It
// enumerates the laws of grid samplers and of first-hitting. For other samplers with a likelihood
// it computes that of every sequence ([likelihood.Evaluator.Laws]); since a likelihood covers only
// sequences, the missing probability of a sampler that leaves masks is assigned to the all-mask
// state. For remasking samplers it sums all outcomes ([catalog.Sampler.Outcomes]). [Known] reports
// which samplers have no law.
func (w *World) SamplerLaw(s *catalog.Sampler) ([]float64, error) {
	if err := Known(s); err != nil {
		return nil, err
	}
	if inner, positions, calls, ok := s.Correction(); ok {
		return w.correctedLaw(inner, positions, calls)
	}
	switch law := s.Law().(type) {
	case samplers.ByGrid:
		if law.OneByOne {
			return w.likelihoods(s)
		}
		states := w.GridLaw(law.Steps)
		if law.Denoise {
			states = w.OnStates(w.Denoise(states, law.Grid.Lambda[law.Grid.Steps()]))
		}
		return states, nil
	case samplers.BySizes:
		if law.FHS() {
			return w.OnStates(w.FHSLaw()), nil
		}
	case samplers.Unknown:
		return w.outcomes(s)
	}
	return w.likelihoods(s)
}

// Known returns an error if no world has a law of a sampler, nil if one may.
func Known(s *catalog.Sampler) error {
	set := s.Settings()
	inner, _, _, corrected := s.Correction()
	switch {
	case (s.Planned() || corrected) && set.Draw.ChangesLaw():
		return fault.Errorf("laws", "%s does not draw from the network's own distribution, so its law can be computed only for decoders without corrections: leave out temperature, truncation and suppressed tokens", s)
	case corrected:
		if law, _ := inner.Grid(); law.OneByOne && inner.Left() > 0 {
			return fault.Errorf("laws", "cannot compute corrections of positions that %s leaves masked: use finish=denoise", inner)
		}
		return Known(inner)
	case !samplers.Is[samplers.Unknown](s.Law()):
		return nil
	}
	return s.HasOutcomes()
}

// likelihoods computes the law of a sampler from the likelihood of each sequence.
func (w *World) likelihoods(s *catalog.Sampler) ([]float64, error) {
	e, err := likelihood.New(w.file, likelihood.Options{})
	if err != nil {
		return nil, err
	}
	law, rest := make([]float64, w.States), 1.0
	for i := range w.Sequences {
		laws, err := e.Laws(context.Background(), likelihood.Whole(w.Sequence(i)), []*catalog.Sampler{s})
		if err != nil {
			return nil, err
		}
		p := math.Exp(-laws[0].NegLog)
		law[w.clean[i]], rest = p, rest-p
	}
	if s.Left() > 0 {
		law[w.AllMask()] = max(rest, 0)
	}
	return law, nil
}

// Costs returns −log of the law over sequences of a sampler. Where that underflows, a likelihood
// does not; the cost is NaN if the sampler has none and μ is small enough for products to underflow.
func (w *World) Costs(s *catalog.Sampler, law []float64) []float64 {
	out := NegLog(law)
	e, err := likelihood.New(w.file, likelihood.Options{})
	for i, p := range law {
		if p > 0x1p-960 || err != nil {
			continue
		}
		if laws, err := e.Laws(context.Background(), likelihood.Whole(w.Sequence(i)), []*catalog.Sampler{s}); err == nil {
			out[i] = laws[0].NegLog
		} else if slices.ContainsFunc(slices.Concat(w.mu0, w.mu1), func(p float64) bool { return p > 0 && p < 0x1p-100 }) {
			out[i] = math.NaN()
		}
	}
	return out
}

// outcomes computes the law of a sampler without a likelihood by enumeration.
func (w *World) outcomes(s *catalog.Sampler) ([]float64, error) {
	canvas := slices.Repeat([]int{w.V}, w.D)
	all, _, err := s.Outcomes(context.Background(), w.file, canvas, maxOutcomes)
	law := make([]float64, w.States)
	for _, x := range all {
		law[w.file.State(x.IDs)] += x.P
	}
	return law, err
}
