package profile

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

// halves are the profiles over every second window, from the first and from the second on.
func (s *Set) halves() [2]*Set {
	var windows [2][]Window
	for i, w := range s.windows {
		windows[i%2] = append(windows[i%2], w)
	}
	return [2]*Set{newSet(s.d, windows[0]), newSet(s.d, windows[1])}
}

// has reports whether c_j is measured: by one window alone it would be without an error.
func (s *Set) has(j int) bool { return s.units[j] >= 2 }

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
