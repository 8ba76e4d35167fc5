package catalog

import (
	"math"
	"sort"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
)

// AtCalls tries up to maxSteps steps and accepts expected calls within the share NearCalls of the
// requested number. Fewer calls by the share lessCalls are enough: grids would need endless steps
// to make all of d calls.
const (
	maxSteps  = 1 << 12
	NearCalls = 0.1
	lessCalls = 0.02
)

// Errors of [AtCalls].
var (
	// ErrDecidedLate: the number of calls is unknown before they are made.
	ErrDecidedLate = fault.Errorf("samplers", "its number of calls depends on the network's rows")
	// ErrNoSteps: no setting changes the number of calls.
	ErrNoSteps = fault.Errorf("samplers", "has no number of steps")
)

// AtCalls returns the number of steps with which the expected calls of the options over d free positions
// are nearest to calls, and those expected calls. It returns an error if they are not near, or if there is
// no such number; for [ErrNoSteps], and for a sampler that always makes that many, steps is 0.
func AtCalls(o Options, spec samplers.Spec, d, calls int) (steps int, made float64, err error) {
	unused, err := o.Unused()
	if err != nil {
		return 0, 0, err
	}
	expected := func(n int) (float64, error) {
		o.Steps = n
		s, err := New(o, spec)
		if err != nil {
			return 0, err
		}
		made, finish, err := s.ExpectedCalls(d)
		if err == nil && math.IsNaN(made+finish) {
			err = ErrDecidedLate
		}
		return made + finish, err
	}
	if _, fixed := unused["steps"]; fixed {
		if made, err = expected(0); err == nil && !isNear(made, calls) {
			err = ErrNoSteps
		}
		return 0, made, err
	}
	less := func(n int) bool {
		x, err := expected(n)
		return err != nil || x < (1-lessCalls)*float64(calls)
	}
	low, high := 0, 1
	for high < maxSteps && less(high) {
		low, high = high, 2*high
	}
	n := low + 1 + sort.Search(high-low-1, func(i int) bool { return !less(low + 1 + i) })
	made, err = expected(n)
	before := max(n-1, 1)
	if below, fails := expected(before); fails == nil && (err != nil || off(below, calls) < off(made, calls)) {
		n, made, err = before, below, nil
	}
	if err == nil && !isNear(made, calls) {
		err = fault.Errorf("samplers", "%s with %d steps makes %.4g", o.Sampler, n, made)
	}
	return n, made, err
}

// off returns the difference between made and requested calls; isNear reports whether it is small.
func off(made float64, calls int) float64 { return math.Abs(made - float64(calls)) }
func isNear(made float64, calls int) bool { return off(made, calls) <= NearCalls*float64(calls) }
