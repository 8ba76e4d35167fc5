package profile

import (
	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers/schedule"
)

// Judged are sizes of blocks with their excess on windows that they were not chosen by, in nats a
// sequence.
type Judged struct {
	Sizes  []int
	Excess estimate.Estimate
}

// Choice has the best sizes for N calls, and what they gain.
type Choice struct {
	N int
	// Chosen were chosen on half 0, and are judged on half 1 beside equal sizes. Gain is the excess
	// of the one less that of the other, in pairs over the windows.
	Chosen, Equal Judged
	Gain          estimate.Estimate
	// Use are the sizes chosen on all windows: the ones to use. Predicted is their excess by
	// the profile that they were chosen by, which flatters them, in nats.
	Use       []int
	Predicted float64
}

// Choose finds the best sizes for n calls. The loss profile is made non-increasing before: see
// [Set.Falling].
func (p *Profile) Choose(n int, confidence float64) (Choice, error) {
	if n < 1 || n > p.D {
		return Choice{}, fault.Errorf("profile", "%d blocks of %d positions: must be in 1..%d", n, p.D, p.D)
	}
	judge := p.Half(1)
	chosen, _ := schedule.BestSizes(p.Half(0).Falling(), n)
	even := schedule.CurveSizes(schedule.GridLambda, p.D, n)
	out := Choice{N: n, Chosen: Judged{chosen, judge.Excess(chosen, confidence)}, Equal: Judged{even, judge.Excess(even, confidence)}, Gain: judge.Gain(chosen, even, confidence)}
	falling := p.Falling()
	out.Use, out.Predicted = schedule.BestSizes(falling, n)
	for _, v := range falling {
		out.Predicted -= v
	}
	return out, nil
}
