package oracle

import (
	"math"
	"slices"

	"mdmgen/internal/lawstest"
	"mdmgen/samplers/schedule"
)

// schedule returns the masked fractions of a named schedule, or the file's own if the name is
// unknown.
func (r *more) schedule(s moreSettings) []float64 {
	n := len(s.Lambda) - 1
	if s.Schedule == "log_reveal_odds" && n > 2 && r.w.D > 2 {
		return logRevealOdds(r.w.D, n)
	}
	kind := schedule.GridKind(s.Schedule)
	if slices.Contains([]schedule.GridKind{schedule.GridLambda, schedule.GridCos2, schedule.GridCosine}, kind) {
		return lawstest.Grid(r.t, schedule.GridSpec{Kind: kind, T: math.Inf(1), Steps: n}).Lambda
	}
	return s.Lambda
}

// logRevealOdds returns N−1 masked fractions with their odds (1−λ)/λ in geometric progression, from
// λ = 1−1/d to 1/d, with 1 and 0 at the ends.
func logRevealOdds(d, n int) []float64 {
	out := []float64{1}
	for i := range n - 1 {
		odds := math.Pow(float64(d-1), 2*float64(i)/float64(n-2)-1)
		out = append(out, 1/(1+odds))
	}
	return append(out, 0)
}
