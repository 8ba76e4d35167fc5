package profile

// Set is the profile over some of the windows.
type Set struct {
	d       int
	windows []Window
	// draws and units count the draws and windows of each j, sums holds the totals of their terms.
	draws, units, sums []float64
	// known is the number of j with draws from at least two windows; before and after are the
	// nearest such j on each side of each j, −1 and d if there is none.
	known         int
	before, after []int
}

func newSet(d int, windows []Window) *Set {
	s := &Set{d: d, windows: windows, draws: make([]float64, d), units: make([]float64, d), sums: make([]float64, d)}
	for _, w := range windows {
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

// halves returns the profiles over every second window, starting with the first and with the
// second.
func (s *Set) halves() [2]*Set {
	var windows [2][]Window
	for i, w := range s.windows {
		windows[i%2] = append(windows[i%2], w)
	}
	return [2]*Set{newSet(s.d, windows[0]), newSet(s.d, windows[1])}
}

// has reports whether c_j is measured: a single window would give no error.
func (s *Set) has(j int) bool { return s.units[j] >= 2 }

// Means returns c in nats for every j in 0..d−1. Missing values are interpolated linearly between
// their neighbours, or equal the nearest at the ends.
func (s *Set) Means() []float64 {
	out := make([]float64, s.d)
	for j := range out {
		s.spread(j, 1, func(i int, weight float64) { out[j] += weight * s.sums[i] / s.draws[i] })
	}
	return out
}

// spread calls to with weight for j if it is measured, else with its parts for the measured
// neighbours.
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
