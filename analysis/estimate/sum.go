package estimate

import "math"

// Sum adds numbers and keeps the rounding errors (Knuth's two-sum). The zero value is 0.
type Sum struct{ sum, lost float64 }

// Add adds x, which may be infinite.
func (s *Sum) Add(x float64) {
	t := s.sum + x
	added := t - s.sum
	s.lost += (s.sum - (t - added)) + (x - added)
	s.sum = t
}

// Value returns the sum.
func (s *Sum) Value() float64 {
	if math.IsInf(s.sum, 0) {
		return s.sum // the rounding error is unknown
	}
	return s.sum + s.lost
}

// Ratios computes [Ratio] for entries that arrive one by one; those of a cluster must be consecutive, and
// only their sums are kept. The zero value has no entries.
type Ratios struct {
	sums, weights []float64 // of units
	entries       int
	cluster       int
}

// Add adds an entry. It starts a new unit, unless clustered is set and the previous entry has the
// same cluster.
func (s *Ratios) Add(sum, weight float64, cluster int, clustered bool) {
	if s.entries == 0 || !clustered || cluster != s.cluster {
		s.sums, s.weights = append(s.sums, 0), append(s.weights, 0)
	}
	last := len(s.sums) - 1
	s.sums[last] += sum
	s.weights[last] += weight
	s.entries, s.cluster = s.entries+1, cluster
}

// Estimate returns the estimate from the entries so far; more may follow.
func (s *Ratios) Estimate(confidence float64) Estimate {
	return mild.ratio(s.sums, s.weights, s.entries, confidence)
}
