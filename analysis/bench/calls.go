package bench

import (
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/samplers/catalog"
)

// Law is what is known of the network calls of a sequence before any is made.
type Law struct {
	// Calls is the exact expected number of non-empty blocks; Finish that of calls that
	// fill what they left, a probability.
	// Both are NaN where no plan tells them: reveals then depend on the network.
	Calls  estimate.Number `json:"calls"`
	Finish estimate.Number `json:"finish"`
	// Events is the exact expected number of events, nil for a sampler that has none.
	Events *float64 `json:"events,omitempty"`
	// CallsSD and FinishSD are exact standard deviations of one sequence; CallsSD is
	// NaN where it is not worked out, because a grid is too long or a sampler's blocks are
	// not the steps of one.
	CallsSD  float64 `json:"-"`
	FinishSD float64 `json:"-"`
}

// pairSteps bounds the grids whose variance is worked out, which takes a power for each
// pair of steps.
const pairSteps = 2048

// NewLaw is the law of a sampler over d free positions.
func NewLaw(s *catalog.Sampler, d int) (Law, error) {
	calls, finish, err := s.ExpectedCalls(d)
	if err != nil {
		return Law{}, err
	}
	l := Law{Calls: estimate.Number(calls), Finish: estimate.Number(finish), CallsSD: math.NaN(), FinishSD: math.Sqrt(max(0, finish*(1-finish)))}
	if events, ok := s.ExpectedEvents(d); ok {
		l.Events = &events
	}
	law, _ := s.Law()
	switch steps := law.Steps; {
	case steps == nil:
		if calls == math.Trunc(calls) {
			l.CallsSD = 0 // groups, and orders, are of fixed sizes
		}
	case law.OneByOne:
		// A call a position, but for those left.
		p := steps.Left()
		l.CallsSD = math.Sqrt(float64(d) * p * (1 - p))
	default:
		if own, _ := steps.ExpectedCalls(d); len(steps.Reveal) <= pairSteps && math.Abs(own-calls) <= 1e-9*(1+calls) {
			l.CallsSD = math.Sqrt(max(0, variance(steps.Reveal, d)))
		}
	}
	return l, nil
}

// unknownLaw is that of a sampler whose calls no plan tells.
func unknownLaw() Law {
	nan := math.NaN()
	return Law{Calls: estimate.Number(nan), Finish: estimate.Number(nan), CallsSD: nan, FinishSD: nan}
}

// All is the expected number of calls, finishing ones included.
func (l Law) All() float64 { return float64(l.Calls + l.Finish) }

// variance is that of the number of non-empty steps where each of d positions is
// revealed in step k with probability w_k, independently: with e_k = (1−w_k)^d,
//
//	Σ_k e_k(1−e_k) + 2 Σ_{j<k} ((1−w_j−w_k)^d − e_j·e_k).
func variance(w []float64, d int) float64 {
	n := float64(d)
	empty := make([]float64, len(w))
	var sum float64
	for k, p := range w {
		empty[k] = math.Exp(n * math.Log1p(-min(p, 1)))
		sum += empty[k] * (1 - empty[k])
	}
	for k := range w {
		for j := range k {
			both := 0.0
			if rest := 1 - w[j] - w[k]; rest > 0 {
				both = math.Exp(n * math.Log(rest))
			}
			sum += 2 * (both - empty[j]*empty[k])
		}
	}
	return sum
}

// Agreement is how many standard errors a measured mean over n sequences lies from its
// expectation. The standard error is the larger of the exact one, from the law's standard
// deviation sd, and that of the samples: where few sequences differ from the others, the one
// is too small if one of these was drawn and the other if none was. An sd of NaN is not known;
// samples that all came out alike are then judged as if rare events were missed, whose
// variance is their mean.
func Agreement(mean, expected, sd, sampleSD float64, n int) float64 {
	off := math.Abs(mean - expected)
	if off <= 1e-9*(1+math.Abs(expected)) {
		return 0
	}
	if math.IsNaN(expected) {
		return math.NaN()
	}
	switch {
	case !math.IsNaN(sd):
		sd = max(sd, sampleSD)
	case sampleSD == 0 && off < 0.5:
		sd = math.Sqrt(off)
	default:
		sd = sampleSD
	}
	return off / (sd / math.Sqrt(float64(n)))
}
