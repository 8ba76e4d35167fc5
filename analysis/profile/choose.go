package profile

import (
	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers/schedule"
)

// Kind says what is chosen.
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
	// Name is chosen, equal, cos2, cosine or unforced.
	Name string
	Schedule
	// Calls is the expected number of network calls a sequence.
	Calls  float64
	Excess estimate.Estimate
	// Gain is the chosen schedule's excess less this one's, in pairs over the windows; nil
	// for the chosen one.
	Gain *estimate.Estimate
}

// Choice is the best schedule for N calls beside the rules of thumb.
type Choice struct {
	N int
	// Schedules are judged on half 1: first the one chosen on half 0, then those along
	// curves; at last "unforced", that of the least expected path loss of at most N blocks by
	// the profile of half 0 as it was measured, where it has fewer than N.
	Schedules []Judged
	// Root is the excess that many calls approach, by the √-rule, in nats.
	Root float64
	// Use is the schedule chosen on all windows: the one to use. Predicted is its excess by
	// the profile that it was chosen by, which flatters it, in nats.
	Use       Schedule
	Predicted float64
}

// Choose finds the best schedule for n calls. The loss profile is made to fall before: see
// [Set.Falling].
func (p *Profile) Choose(kind Kind, n int, confidence float64) (Choice, error) {
	switch {
	case kind == Sizes && (n < 1 || n > p.D):
		return Choice{}, fault.Errorf("profile", "%d blocks of %d positions: must be in 1..%d", n, p.D, p.D)
	case kind == Grid && (n < 1 || n > MaxSteps):
		return Choice{}, fault.Errorf("profile", "%d steps: must be in 1..%d", n, MaxSteps)
	}
	judge := p.Half(1)
	train := p.Half(0)
	out := Choice{N: n}
	falling := p.Falling()
	out.Root = schedule.RootRule(falling, n)
	out.Use, out.Predicted = best(kind, falling, n)
	for _, v := range falling {
		out.Predicted -= v
	}
	chosen, _ := best(kind, train.Falling(), n)
	add := func(name string, s Schedule) {
		j := Judged{Name: name, Schedule: s, Calls: s.Calls(p.D), Excess: judge.Excess(s, confidence)}
		if name != "chosen" {
			gain := judge.Gain(chosen, s, confidence)
			j.Gain = &gain
		}
		out.Schedules = append(out.Schedules, j)
	}
	add("chosen", chosen)
	for _, c := range []struct {
		name  string
		curve schedule.GridKind
	}{{"equal", schedule.GridLambda}, {"cos2", schedule.GridCos2}, {"cosine", schedule.GridCosine}} {
		s := SizesAlong(c.curve, p.D, n)
		if kind == Grid {
			var err error
			if s, err = GridAlong(c.curve, n); err != nil {
				return Choice{}, err
			}
		}
		add(c.name, s)
	}
	if unforced, _ := best(kind, train.Means(), n); unforced.blocks() < chosen.blocks() {
		add("unforced", unforced)
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

// blocks is the number of blocks or steps.
func (s Schedule) blocks() int {
	if s.Sizes != nil {
		return len(s.Sizes)
	}
	return len(s.Lambda) - 1
}
