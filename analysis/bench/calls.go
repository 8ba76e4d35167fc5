package bench

import (
	"mdmgen/analysis/estimate"
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

// AtCalls returns a setting with the steps of [catalog.AtCalls], and the calls that are expected then.
func AtCalls(s Setting, spec samplers.Spec, d, calls int) (at Setting, made float64, err error) {
	s.Options.Steps, made, err = catalog.AtCalls(s.Options, spec, d, calls)
	return s, made, err
}
