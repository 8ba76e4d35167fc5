package bench

import (
	"mdmgen/analysis/estimate"
	"mdmgen/samplers/catalog"
)

// Law is what is known of the network calls of a sequence before any is made.
type Law struct {
	// Calls is the exact expected number of non-empty blocks; Finish that of calls that
	// fill what they left, a probability.
	// Both are NaN where there is no plan: reveals then depend on the network.
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

// All is the expected number of calls, finishing ones included.
func (l Law) All() float64 { return float64(l.Calls + l.Finish) }
