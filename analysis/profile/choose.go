package profile

import (
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers/schedule"
)

// Kind is a kind of schedule.
type Kind string

// The kinds of schedule.
const (
	// Sizes are block sizes of parallel-fhs.
	Sizes Kind = "sizes"
	// Grid is a grid of masked fractions for Tweedie.
	Grid Kind = "grid"
)

// Kinds lists them, the default first.
func Kinds() []Kind { return []Kind{Sizes, Grid} }

// MaxSteps is the greatest number of steps of a grid to choose; of sizes it is D.
const MaxSteps = 4096

// Judged is a schedule with its excess on windows that it was not chosen by, in nats a
// sequence.
type Judged struct {
	Schedule
	// Calls is the expected number of network calls a sequence.
	Calls  float64
	Excess estimate.Estimate
}

// Choice is the best schedule for N calls, and what it gains.
type Choice struct {
	N int
	// Chosen was chosen on half 0, and is judged on half 1 beside Equal, which has equal sizes or
	// equal masked fractions. Gain is the excess of the one less that of the other, in pairs over
	// the windows.
	Chosen, Equal Judged
	Gain          estimate.Estimate
	// Use is the schedule chosen on all windows: the one to use. Predicted is its excess by
	// the profile that it was chosen by, which flatters it, in nats.
	Use       Schedule
	Predicted float64
}

// Choose finds the best schedule for n calls. The loss profile is made non-increasing before: see
// [Set.Falling].
func (p *Profile) Choose(kind Kind, n int, confidence float64) (Choice, error) {
	switch {
	case kind == Sizes && (n < 1 || n > p.D):
		return Choice{}, fault.Errorf("profile", "%d blocks of %d positions: must be in 1..%d", n, p.D, p.D)
	case kind == Grid && (n < 1 || n > MaxSteps):
		return Choice{}, fault.Errorf("profile", "%d steps: must be in 1..%d", n, MaxSteps)
	}
	judge := p.Half(1)
	judged := func(s Schedule) Judged { return Judged{s, s.Calls(p.D), judge.Excess(s, confidence)} }
	chosen, _ := best(kind, p.Half(0).Falling(), n)
	even, err := equal(kind, p.D, n)
	if err != nil {
		return Choice{}, err
	}
	out := Choice{N: n, Chosen: judged(chosen), Equal: judged(even), Gain: judge.Gain(chosen, even, confidence)}
	falling := p.Falling()
	out.Use, out.Predicted = best(kind, falling, n)
	for _, v := range falling {
		out.Predicted -= v
	}
	return out, nil
}

// best is the schedule of least cost and that cost.
func best(kind Kind, c []float64, n int) (Schedule, float64) {
	if kind == Grid {
		lambda, cost := schedule.BestGrid(c, n)
		return Schedule{Lambda: lambda}, cost
	}
	sizes, cost := schedule.BestSizes(c, n)
	return Schedule{Sizes: sizes}, cost
}

// equal has n blocks of equal sizes, or n steps of equal masked fractions.
func equal(kind Kind, d, n int) (Schedule, error) {
	if kind == Sizes {
		return Schedule{Sizes: schedule.CurveSizes(schedule.GridLambda, d, n)}, nil
	}
	g, err := schedule.NewGrid(schedule.GridSpec{Kind: schedule.GridLambda, T: math.Inf(1), Steps: n})
	return Schedule{Lambda: g.Lambda}, err
}
