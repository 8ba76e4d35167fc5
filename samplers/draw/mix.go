package draw

// Mix extrapolates from one row to another: if p is a row on the canvas as it is and prev the row
// of the same position on the canvas of the call before, p + w·(p−prev) gives a token, to first
// order in the dependence between positions, what it would know of those that are revealed beside
// it. Mix writes to dst the distribution
//
//	max((1+w)·p − w·prev, floor·p), normalised,
//
// p and prev being distributions over the same tokens, w ≥ 0, floor in 0..1. Since
// (1+w)·p − w·prev sums to 1, what is normalised sums to at least 1. A floor above 0
// leaves every token possible that p leaves possible. dst may be p or prev. It
// panics when lengths differ.
func Mix(dst, p, prev []float64, w, floor float64) {
	if len(dst) != len(p) || len(prev) != len(p) {
		panic("draw: Mix of rows of different lengths")
	}
	var sum float64
	for i, x := range p {
		// Both products are rounded, so that the row is the same on every processor.
		y := max(x+float64(w*float64(x-prev[i])), float64(floor*x))
		dst[i] = y
		sum += y
	}
	for i := range dst {
		dst[i] /= sum
	}
}
