package bench

import (
	"math"
	"slices"

	"mdmgen/analysis/estimate"
)

func sortRounds(reps []Repetition) {
	slices.SortFunc(reps, func(a, b Repetition) int { return a.Round - b.Round })
}

// summary adds repetitions up. Calls are counts of independent sequences; times vary with
// the machine, so that their units are repetitions.
func summary(reps []Repetition, law Law, confidence float64) *Summary {
	s := &Summary{Repetitions: len(reps)}
	var calls, squares, finish, left, rows, network, events int
	var eventsSquared float64
	for _, r := range reps {
		s.Sequences += r.Sequences
		calls += r.Calls
		squares += r.CallsSquared
		finish += r.FinishCalls
		left += r.Left
		events += r.Events
		eventsSquared += r.EventsSquared
		rows += r.Rows
		network += r.NetworkCalls
		s.PeakBytes = max(s.PeakBytes, r.PeakBytes)
	}
	n := s.Sequences
	s.Calls = estimate.Counts(calls, float64(squares), n, confidence)
	s.FinishCalls = estimate.Counts(finish, float64(finish), n, confidence)
	if law.Events != nil {
		e := estimate.Counts(events, eventsSquared, n, confidence)
		s.Events = &e
	}
	s.CallsOff = estimate.Number(Agreement(s.Calls.Mean, float64(law.Calls), law.CallsSD, spread(s.Calls), n))
	s.FinishOff = estimate.Number(Agreement(s.FinishCalls.Mean, float64(law.Finish), law.FinishSD, spread(s.FinishCalls), n))
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
		return estimate.Ratio(each(top), each(bottom), nil, confidence)
	}
	sequences := func(r Repetition) float64 { return float64(r.Sequences) }
	total := func(r Repetition) float64 { return r.Seconds.Total }
	inNetwork := func(r Repetition) float64 { return r.Seconds.Network }
	tokens := func(r Repetition) float64 { return float64(r.Tokens) }
	s.Left = per(func(r Repetition) float64 { return float64(r.Left) }, sequences)
	s.Network = per(inNetwork, sequences)
	s.Sampling = per(func(r Repetition) float64 { return r.Seconds.Sampling }, sequences)
	s.Rest = per(func(r Repetition) float64 { return r.Seconds.Rest }, sequences)
	s.Total = per(total, sequences)
	s.Overhead = per(total, inNetwork)
	s.Effective, s.InNetwork = per(tokens, total), per(tokens, inNetwork)
	s.InStep = per(func(r Repetition) float64 { return float64(r.Positions) }, total)
	return s
}

// spread is the standard deviation of one sample of an estimate, 0 where it is not known.
func spread(e estimate.Estimate) float64 {
	if math.IsInf(e.SE, 1) {
		return 0
	}
	return e.SE * math.Sqrt(float64(e.N))
}

// ratio is the geometric mean of the ratios of times in the same round, nil where no
// round has both.
func ratio(reps, base []Repetition, confidence float64) *estimate.Estimate {
	var logs []float64
	for _, r := range reps {
		for _, b := range base {
			if b.Round == r.Round && r.Seconds.Total > 0 && b.Seconds.Total > 0 {
				logs = append(logs, math.Log(r.Seconds.Total/b.Seconds.Total))
			}
		}
	}
	if len(logs) == 0 {
		return nil
	}
	e := estimate.Mean(logs, confidence).Map(math.Exp, math.Exp)
	return &e
}
