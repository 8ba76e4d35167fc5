package bench

import (
	"slices"

	"mdmgen/analysis/estimate"
)

func sortRounds(reps []Repetition) {
	slices.SortFunc(reps, func(a, b Repetition) int { return a.Round - b.Round })
}

// summary summarizes repetitions. Calls are counts of independent sequences. Times vary with the machine, so their units are repetitions.
func summary(reps []Repetition, confidence float64) *Summary {
	s := &Summary{Repetitions: len(reps)}
	var calls, squares, finish, left, rows, network int
	for _, r := range reps {
		s.Sequences += r.Sequences
		calls += r.Calls
		squares += r.CallsSquared
		finish += r.FinishCalls
		left += r.Left
		rows += r.Rows
		network += r.NetworkCalls
		s.PeakBytes = max(s.PeakBytes, r.PeakBytes)
	}
	n := s.Sequences
	s.Calls = estimate.Counts(calls, float64(squares), n, confidence)
	s.FinishCalls = estimate.Counts(finish, float64(finish), n, confidence)
	if network > 0 {
		s.RowsPerCall = float64(rows) / float64(network)
	}
	each := func(f func(r Repetition) float64) []float64 {
		out := make([]float64, len(reps))
		for i, r := range reps {
			out[i] = f(r)
		}
		return out
	}
	per := func(top, bottom func(r Repetition) float64) estimate.Estimate {
		return estimate.NormalRatio(each(top), each(bottom), nil, confidence)
	}
	sequences := func(r Repetition) float64 { return float64(r.Sequences) }
	total := func(r Repetition) float64 { return r.Seconds.Total }
	s.Left = per(func(r Repetition) float64 { return float64(r.Left) }, sequences)
	s.Network = per(func(r Repetition) float64 { return r.Seconds.Network }, sequences)
	s.Sampling = per(func(r Repetition) float64 { return r.Seconds.Sampling }, sequences)
	s.Rest = per(func(r Repetition) float64 { return r.Seconds.Rest }, sequences)
	s.Total = per(total, sequences)
	s.Effective = per(func(r Repetition) float64 { return float64(r.Tokens) }, total)
	s.InStep = per(func(r Repetition) float64 { return float64(r.Positions) }, total)
	return s
}
