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

// Ratios computes [Ratio] for entries that arrive one by one and are not kept; those of a cluster
// must be consecutive. The zero value has no entries.
type Ratios struct {
	// pivot is near the ratio. The sums below are of residuals about it, so that their
	// differences lose no digits.
	pivot   float64
	entries int
	units   int
	// top and bottom are sums over all entries, residual and weight over the current unit.
	top, bottom      Sum
	cluster          int
	residual, weight float64
	// r sums the units' residuals top − pivot·bottom, w their bottoms.
	r, rr, rw, ww Sum
}

// Add adds an entry. It starts a new unit, unless clustered is set and the previous entry has the
// same cluster.
func (s *Ratios) Add(sum, weight float64, cluster int, clustered bool) {
	if s.entries == 0 && weight > 0 && !math.IsInf(sum, 0) {
		s.pivot = sum / weight
	}
	if s.entries == 0 || !clustered || cluster != s.cluster {
		s.flush()
		s.units++
	}
	s.entries++
	s.cluster = cluster
	s.top.Add(sum)
	s.bottom.Add(weight)
	s.residual += sum - s.pivot*weight
	s.weight += weight
}

// flush adds the current unit to the sums.
func (s *Ratios) flush() {
	s.r.Add(s.residual)
	s.rr.Add(s.residual * s.residual)
	s.rw.Add(s.residual * s.weight)
	s.ww.Add(s.weight * s.weight)
	s.residual, s.weight = 0, 0
}

// Estimate returns the estimate from the entries so far; more may follow.
func (s *Ratios) Estimate(confidence float64) Estimate {
	all := *s
	all.flush()
	n, bottom := float64(all.units), all.bottom.Value()
	// Σ(r − δ·w)², the residuals about the ratio itself.
	delta := all.r.Value() / bottom
	ss := max(0, all.rr.Value()-2*delta*all.rw.Value()+delta*delta*all.ww.Value())
	return finish(all.top.Value()/bottom, math.Sqrt(ss*n/(n-1))/bottom, all.entries, all.units, n-1, confidence)
}
