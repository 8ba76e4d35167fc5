package bench

import (
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Expected holds the expected network calls of a sequence, known before any is made.
type Expected struct {
	// Calls is the exact expected number of non-empty blocks. Finish is the expected number of
	// calls that fill the rest, a probability. Both are NaN if they depend on the network's rows.
	Calls  estimate.Number `json:"calls"`
	Finish estimate.Number `json:"finish"`
}

// Expect returns the expected calls of a sampler over d free positions. Without a plan, they are
// NaN if they depend on the network's rows.
func Expect(s *catalog.Sampler, d int) (Expected, error) {
	calls, finish, err := s.ExpectedCalls(d)
	if err != nil {
		return Expected{}, err
	}
	return Expected{estimate.Number(calls), estimate.Number(finish)}, nil
}

// All returns the expected number of calls, including finishing ones.
func (e Expected) All() float64 { return float64(e.Calls + e.Finish) }

// AtCalls tries up to maxSteps steps and accepts expected calls within the share nearCalls of the
// requested number. Fewer calls by the share lessCalls are enough: grids would need endless steps
// to make all of d calls.
const (
	maxSteps  = 1 << 12
	nearCalls = 0.1
	lessCalls = 0.02
)

// Errors of [AtCalls].
var (
	// ErrDecidedLate: the number of calls is unknown before they are made.
	ErrDecidedLate = fault.Errorf("bench", "its number of calls depends on the network's rows")
	// ErrNoSteps: no setting changes the number of calls.
	ErrNoSteps = fault.Errorf("bench", "has no number of steps")
)

// AtCalls returns a setting with the number of steps whose expected calls over d free positions are
// nearest to calls, and those expected calls. It returns an error if they are not near, or if there
// is no such number.
func AtCalls(s Setting, spec samplers.Spec, d, calls int) (at Setting, made float64, err error) {
	unused, err := s.Options.Unused()
	if err != nil {
		return s, 0, err
	}
	expected := func(n int) (float64, error) {
		s.Options.Steps = n
		sampler, err := catalog.New(s.Options, spec)
		if err != nil {
			return 0, err
		}
		of, err := Expect(sampler, d)
		if err == nil && math.IsNaN(of.All()) {
			err = ErrDecidedLate
		}
		return of.All(), err
	}
	if _, fixed := unused["steps"]; fixed {
		if made, err = expected(0); err == nil && !isNear(made, calls) {
			err = ErrNoSteps
		}
		return s, made, err
	}
	less := func(n int) bool {
		x, err := expected(n)
		return err != nil || x < (1-lessCalls)*float64(calls)
	}
	low, high := 0, 1
	for high < maxSteps && less(high) {
		low, high = high, 2*high
	}
	for low+1 < high {
		if middle := (low + high) / 2; less(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	n := high
	made, err = expected(n)
	if below, fails := expected(max(low, 1)); fails == nil && (err != nil || off(below, calls) < off(made, calls)) {
		n, made, err = max(low, 1), below, nil
	}
	if s.Options.Steps = n; err == nil && !isNear(made, calls) {
		err = fault.Errorf("bench", "%s makes %.4g", s.ID(), made)
	}
	return s, made, err
}

// off returns the difference between made and requested calls; isNear reports whether it is small.
func off(made float64, calls int) float64 { return math.Abs(made - float64(calls)) }
func isNear(made float64, calls int) bool { return off(made, calls) <= nearCalls*float64(calls) }
