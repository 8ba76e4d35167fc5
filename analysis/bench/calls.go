package bench

import (
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Law is what is known of the network calls of a sequence before any is made.
type Law struct {
	// Calls is the exact expected number of non-empty blocks; Finish that of calls that
	// fill what they left, a probability.
	// Both are NaN where the network's rows decide.
	Calls  estimate.Number `json:"calls"`
	Finish estimate.Number `json:"finish"`
	// Events is the exact expected number of events, nil for a sampler that has none.
	Events *float64 `json:"events,omitempty"`
}

// NewLaw is the law of a sampler over d free positions.
func NewLaw(s *catalog.Sampler, d int) (Law, error) {
	calls, finish, err := s.ExpectedCalls(d)
	if err != nil {
		return Law{}, err
	}
	l := Law{Calls: estimate.Number(calls), Finish: estimate.Number(finish)}
	if events, ok := s.ExpectedEvents(d); ok {
		l.Events = &events
	}
	return l, nil
}

// fixedCalls is the law of a sampler without a plan: its calls may be known all the same.
func fixedCalls(s *catalog.Sampler, d int) (l Law, err error) {
	law, _ := s.Law()
	calls, finish := math.NaN(), math.NaN()
	if law.Calls != nil {
		calls, finish, err = law.Calls(d)
	}
	return Law{Calls: estimate.Number(calls), Finish: estimate.Number(finish)}, err
}

// All is the expected number of calls, finishing ones included.
func (l Law) All() float64 { return float64(l.Calls + l.Finish) }

// AtCalls looks for as many steps as mostSteps, and takes those whose expected calls are within nearCalls
// of what is asked for, as a share of it. What is short of it by lessCalls is enough: all of d calls take
// grids without end.
const (
	mostSteps = 1 << 12
	nearCalls = 0.1
	lessCalls = 0.02
)

var errDecidedLate = fault.Errorf("bench", "how many it makes is decided on the way")

// AtCalls gives a setting the number of steps that makes the expected number of calls over d free positions
// nearest to one. The error names the nearest where it is not near, or why calls have no number.
func AtCalls(s Setting, spec samplers.Spec, d, calls int) (Setting, error) {
	unused, err := s.Options.Unused()
	if err != nil {
		return s, err
	}
	_, fixed := unused["steps"]
	// off is how far n steps are from the calls.
	off := func(n int) (float64, error) {
		if !fixed {
			s.Options.Steps = n
		}
		sampler, err := catalog.New(s.Options, spec)
		if err != nil {
			return math.NaN(), err
		}
		law, _ := sampler.Law()
		if law.Calls == nil {
			return math.NaN(), errDecidedLate
		}
		made, finish, err := law.Calls(d)
		if err == nil && math.IsNaN(made) {
			err = errDecidedLate
		}
		return made + finish - float64(calls), err
	}
	less := func(n int) bool {
		x, err := off(n)
		return err != nil || x < -lessCalls*float64(calls)
	}
	low, high := 0, 1
	for high < mostSteps && less(high) {
		low, high = high, 2*high
	}
	for low+1 < high {
		if middle := (low + high) / 2; less(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	best, err := off(high)
	n := high
	if below, fails := off(max(low, 1)); fails == nil && !(math.Abs(best) <= math.Abs(below)) {
		n, best, err = max(low, 1), below, nil
	}
	if s.Options.Steps = n; fixed {
		s.Options.Steps = 0
	}
	switch {
	case err != nil:
		return s, err
	case math.Abs(best) > nearCalls*float64(calls):
		return s, fault.Errorf("bench", "%s makes %.4g", s.ID(), best+float64(calls))
	}
	return s, nil
}
