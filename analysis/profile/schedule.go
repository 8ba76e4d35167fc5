package profile

import (
	"fmt"

	"mdmgen/analysis/estimate"
	"mdmgen/samplers/schedule"
)

// Schedule is a way to spend network calls: block sizes, or a grid of masked fractions.
// One of the two is set.
type Schedule struct {
	// Sizes are those of parallel-fhs's blocks; they sum to the number of positions.
	Sizes []int
	// Lambda falls from 1 to 0: a grid of Tweedie.
	Lambda []float64
}

// Calls is the expected number of network calls over d positions.
func (s Schedule) Calls(d int) float64 {
	if s.Sizes != nil {
		return float64(len(s.Sizes))
	}
	steps := schedule.Steps{Reveal: make([]float64, len(s.Lambda)-1), Stay: s.Lambda}
	for k := range steps.Reveal {
		steps.Reveal[k] = s.Lambda[k] - s.Lambda[k+1]
	}
	calls, _ := steps.ExpectedCalls(d)
	return calls
}

// Weights returns the weights of c in the schedule's excess: its expected path loss is
// Σ_j (weights[j]+1)·c_j, for a grid that of Tweedie on a network without time. They sum to
// 0. It panics where sizes do not sum to d.
func (s Schedule) Weights(d int) []float64 {
	out := make([]float64, d)
	for j := range out {
		out[j] = -1
	}
	if s.Sizes != nil {
		at := 0
		for _, n := range s.Sizes {
			if n < 1 || n > d-at {
				panic(fmt.Sprintf("profile: sizes %v of %d positions", s.Sizes, d))
			}
			out[at] += float64(n)
			at += n
		}
		return out
	}
	for k, lambda := range s.Lambda[:len(s.Lambda)-1] {
		step := float64(d) * (lambda - s.Lambda[k+1])
		for j, p := range schedule.CountLaw(d, lambda) {
			out[j] += step * p
		}
	}
	return out
}

// Excess estimates what the schedule costs more than one position a call, in nats a
// sequence: E_plan[Σ −log μ] − Σ_j c_j. See [schedule.BestSizes] for what it bounds.
func (s *Set) Excess(of Schedule, confidence float64) estimate.Estimate {
	return s.Sum(of.Weights(s.d), confidence)
}

// Gain estimates the excess of one schedule less that of another, in nats a sequence, in
// pairs over the windows: below 0 where the first is better.
func (s *Set) Gain(first, second Schedule, confidence float64) estimate.Estimate {
	weights := first.Weights(s.d)
	for j, w := range second.Weights(s.d) {
		weights[j] -= w
	}
	return s.Sum(weights, confidence)
}
