package estimate

import "math"

// Sum adds, and keeps what rounding loses (Knuth's two-sum). The zero value is 0.
type Sum struct{ sum, lost float64 }

// Add adds x, which may be infinite.
func (s *Sum) Add(x float64) {
	t := s.sum + x
	added := t - s.sum
	s.lost += (s.sum - (t - added)) + (x - added)
	s.sum = t
}

// Value is the sum so far.
func (s *Sum) Value() float64 {
	if math.IsInf(s.sum, 0) {
		return s.sum // nothing is known of what was lost
	}
	return s.sum + s.lost
}

// Ratios is [Ratio] of entries that come one by one and are not kept: those of a cluster must
// follow each other. The zero value has no entries.
type Ratios struct {
	// reference is near the ratio, so that the sums below are of what is left of it: no digits
	// are lost where their differences are taken.
	reference float64
	entries   int
	units     int
	// top and bottom are sums of all entries, residual and weight those of the unit that is under way.
	top, bottom      Sum
	cluster          int
	residual, weight float64
	// r is of units' top − reference·bottom, w of their bottoms.
	r, rr, rw, ww Sum
}

// Add adds an entry. It is a unit of its own, unless clustered is set and
// the entry before has the same cluster.
func (s *Ratios) Add(sum, weight float64, cluster int, clustered bool) {
	if s.entries == 0 && weight > 0 && !math.IsInf(sum, 0) {
		s.reference = sum / weight
	}
	if s.entries == 0 || !clustered || cluster != s.cluster {
		s.flush()
		s.units++
	}
	s.entries++
	s.cluster = cluster
	s.top.Add(sum)
	s.bottom.Add(weight)
	s.residual += sum - s.reference*weight
	s.weight += weight
}

// flush adds the unit that is under way.
func (s *Ratios) flush() {
	s.r.Add(s.residual)
	s.rr.Add(s.residual * s.residual)
	s.rw.Add(s.residual * s.weight)
	s.ww.Add(s.weight * s.weight)
	s.residual, s.weight = 0, 0
}

// Estimate is that of the entries so far; more may follow.
func (s *Ratios) Estimate(confidence float64) Estimate {
	all := *s
	all.flush()
	n, bottom := float64(all.units), all.bottom.Value()
	// Σ(r − δ·w)², the residuals about the ratio itself.
	delta := all.r.Value() / bottom
	ss := max(0, all.rr.Value()-2*delta*all.rw.Value()+delta*delta*all.ww.Value())
	return finish(all.top.Value()/bottom, math.Sqrt(ss*n/(n-1))/bottom, all.entries, all.units, n-1, confidence)
}
