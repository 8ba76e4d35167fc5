package oracle

import (
	"math"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/samplers/schedule"
)

// lossAt returns the loss E −log μ of a masked position if every other position is masked with
// probability masked, and the denoiser is queried at lambda.
func lossAt(w *laws.World, masked, lambda float64) float64 {
	rows := w.Rows(lambda)
	var s laws.Sum
	for x := range w.States {
		m := lawstest.Masks(w.Space, x)
		if m == 0 || w.Mass[x] == 0 {
			continue
		}
		weight := math.Pow(1-masked, float64(w.D-m)) * math.Pow(masked, float64(m-1)) / float64(w.D)
		if weight == 0 {
			continue
		}
		w.EachMasked(x, func(l int) {
			for a, mu := range w.Row(rows, x, l) {
				if q := w.Mass[w.Reveal(x, l, a)]; q > 0 {
					s.Add(-weight * q * math.Log(mu))
				}
			}
		})
	}
	return s.Value()
}

// planNELBO is E_q0 E_plan Σ −log μ along a sampler's plan with what it leaves filled at the end, an upper
// bound of E_q0[−log P]. A rule never looks at tokens, so that positions are masked independently.
func planNELBO(t testing.TB, w *laws.World, steps schedule.Steps) float64 {
	var s laws.Sum
	for k, stay := range steps.Stay {
		reveal := stay
		if k < len(steps.Reveal) {
			reveal = steps.Reveal[k]
		}
		if reveal > 0 {
			s.Add(float64(w.D) * reveal * lossAt(w, min(stay, 1), steps.Grid.Lambda[k]))
		}
	}
	if bound, got := s.Value(), laws.CrossEntropy(w.Q0, w.Denoise(w.GridLaw(steps), last(steps.Grid))); got > bound+1e-12 {
		t.Errorf("%s: E[−log P] = %v is above its bound %v", steps.Rule, got, bound)
	}
	return s.Value()
}

// last returns the masked fraction at which a grid ends.
func last(g schedule.Grid) float64 { return g.Lambda[g.Steps()] }
