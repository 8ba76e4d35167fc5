package profile

import (
	"math"
	"slices"

	"mdmgen/analysis/estimate"
)

// Set is the profile over some of the windows.
type Set struct {
	d       int
	windows []Window
	// draws and units count the draws and windows of each j, sums add up.
	draws, units, sums []float64
	// known is the number of j that two windows at least have a draw of; before and after
	// are the nearest such to each j, −1 and d where there is none.
	known         int
	before, after []int
}

func newSet(d int, windows []Window, in func(i int) bool) *Set {
	s := &Set{d: d, draws: make([]float64, d), units: make([]float64, d), sums: make([]float64, d)}
	for i, w := range windows {
		if !in(i) {
			continue
		}
		s.windows = append(s.windows, w)
		for i, j := range w.Visible {
			s.draws[j] += float64(w.Draws[i])
			s.units[j]++
			s.sums[j] += w.Sums[i]
		}
	}
	s.before, s.after = make([]int, s.d), make([]int, s.d)
	last := -1
	for j := range s.d {
		if s.has(j) {
			s.known++
			last = j
		}
		s.before[j] = last
	}
	last = s.d
	for j := s.d - 1; j >= 0; j-- {
		if s.has(j) {
			last = j
		}
		s.after[j] = last
	}
	return s
}

// has reports whether c_j is measured: by one window alone it would be without an error.
func (s *Set) has(j int) bool { return s.units[j] >= 2 }

// Windows is the number of windows, Missing that of counts j that fewer than two of them
// have a draw of.
func (s *Set) Windows() int { return len(s.windows) }

// Missing is the number of counts whose loss is interpolated.
func (s *Set) Missing() int { return s.d - s.known }

// Means returns c in nats for every j in 0..d−1. What is missing is interpolated linearly
// between its neighbours, and at the ends it is the nearest.
func (s *Set) Means() []float64 {
	out := make([]float64, s.d)
	for j := range out {
		s.spread(j, 1, func(i int, weight float64) { out[j] += weight * s.sums[i] / s.draws[i] })
	}
	return out
}

// spread hands weight to j where it is measured, else to its measured neighbours.
func (s *Set) spread(j int, weight float64, to func(i int, weight float64)) {
	before, after := s.before[j], s.after[j]
	switch {
	case before == after:
		to(j, weight)
	case before < 0:
		to(after, weight)
	case after == s.d:
		to(before, weight)
	default:
		share := float64(j-before) / float64(after-before)
		to(before, weight*(1-share))
		to(after, weight*share)
	}
}

// NELBO estimates Σ_j c_j in nats a sequence.
func (s *Set) NELBO(confidence float64) estimate.Estimate {
	return s.Sum(slices.Repeat([]float64{1}, s.d), confidence)
}

// Sum estimates Σ_j weights[j]·c_j in nats. Windows are the units: the error is that of the
// linearised ratios sums/draws of all j together, so that what a window has in common at
// several j cancels as it should.
func (s *Set) Sum(weights []float64, confidence float64) estimate.Estimate {
	folded := make([]float64, s.d)
	for j, w := range weights {
		s.spread(j, w, func(i int, weight float64) { folded[i] += weight })
	}
	var total float64
	for j, w := range folded {
		if w != 0 {
			total += w * s.sums[j] / s.draws[j]
		}
	}
	n := float64(len(s.windows))
	values := make([]float64, len(s.windows))
	for k, w := range s.windows {
		var residual float64
		for i, j := range w.Visible {
			if folded[j] == 0 {
				continue
			}
			// Deviations from a mean of few windows are too small by this much.
			few := math.Sqrt(s.units[j] / (s.units[j] - 1))
			residual += folded[j] * few * (w.Sums[i] - s.sums[j]/s.draws[j]*float64(w.Draws[i])) / s.draws[j]
		}
		// Their mean is total and their standard error that of the residuals' sum.
		values[k] = total + residual*math.Sqrt(n*(n-1))
	}
	return estimate.Mean(values, confidence)
}
