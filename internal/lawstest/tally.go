package lawstest

import (
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// FamilyLevel is the probability that at least one of the chi-square tests of a family fails although
// all laws are right: by Bonferroni each of n tests has level FamilyLevel/n. FewerDraws is the number
// of sequences of a test of one law.
const (
	FamilyLevel = 1e-3
	FewerDraws  = 10000
)

// AllMask returns the fully masked canvas of a world.
func AllMask(w *world.World) []int {
	return slices.Repeat([]int{w.Facts().MaskID}, w.Facts().Length)
}

// Average is a mean of numbers with its standard error.
type Average struct{ N, Sum, Squares float64 }

// Add adds a number.
func (a *Average) Add(x float64) { a.N, a.Sum, a.Squares = a.N+1, a.Sum+x, a.Squares+x*x }

// Check fails the test unless the expectation is within 4 standard errors of the mean.
func (a *Average) Check(t testing.TB, want float64, of ...any) {
	t.Helper()
	mean := a.Sum / a.N
	if se := math.Sqrt(max(a.Squares/a.N-mean*mean, 0) / a.N); math.Abs(mean-want) > 4*se+1e-9 {
		t.Errorf("%v: %.5f, expected %.5f ± %.5f", of, mean, want, se)
	}
}

// Share fails the test unless the expectation of zeros and ones is within 4 of its standard errors.
func (a *Average) Share(t testing.TB, want float64, of ...any) {
	t.Helper()
	if se := math.Sqrt(want * (1 - want) / a.N); math.Abs(a.Sum/a.N-want) > 4*se+1e-9 {
		t.Errorf("%v: %.5f, expected %.5f ± %.5f", of, a.Sum/a.N, want, se)
	}
}

// Tally is the result of a run of many sequences.
type Tally struct {
	// States counts final states in base V+1, and Before the states that a finishing call fills.
	States, Before []int
	// All are the calls of both kinds.
	Calls, Finish, All Average
}

// Sample draws n sequences of a world.
func Sample(t testing.TB, w *world.World, s *catalog.Sampler, seed uint64, n int) Tally {
	t.Helper()
	return SampleFrom(t, w, w, AllMask(w), samplers.Config{Method: s, Seed: seed, Batch: 64}, n)
}

// SampleFrom fills a canvas of a world n times by a network that may change the world's rows.
func SampleFrom(t testing.TB, net samplers.Network, w *world.World, canvas []int, cfg samplers.Config, n int) Tally {
	t.Helper()
	states := laws.NewSpace(w.Facts().Length, w.Facts().Columns).States
	out := Tally{States: make([]int, states), Before: make([]int, states)}
	var filled []int // by the finishing call of the sequence that ends next
	watch := cfg.OnStep
	cfg.OnStep = func(s samplers.Step) {
		if s.Finish {
			filled = append(filled, s.Positions...)
		}
		if watch != nil {
			watch(s)
		}
	}
	reftest.Must(samplers.Sample(t.Context(), net, samplers.Copies(canvas, 0, n), cfg, func(r samplers.Result) error {
		out.States[w.State(r.IDs)]++
		for _, l := range filled {
			r.IDs[l] = w.Facts().MaskID
		}
		filled = filled[:0]
		out.Before[w.State(r.IDs)]++
		out.Calls.Add(float64(r.Calls))
		out.Finish.Add(float64(r.FinishCalls))
		out.All.Add(float64(r.Calls + r.FinishCalls))
		return nil
	}))(t)
	return out
}

// Fits fails the test unless counts follow a law, by chi-square at a level.
func Fits(t testing.TB, counts []int, law []float64, level float64, of ...any) {
	t.Helper()
	if p := reftest.Goodness(counts, law); p < level {
		t.Errorf("%v: chi-square p = %.3g: below %.3g", of, p, level)
	}
}

// HasLaw fails the test unless the outcomes of a sampler, asked of a network that may change the world's
// rows, have a law over states and sum to 1, and samples fit it at a level. It returns the expected
// calls, and how often samples masked a position again.
func HasLaw(t testing.TB, net samplers.Network, w *world.World, s *catalog.Sampler, law []float64, level float64, of ...any) (calls float64, again int) {
	t.Helper()
	outcomes, calls, err := s.Outcomes(t.Context(), net, AllMask(w), 1e6)
	reftest.OK(t, err, of...)
	var sum float64
	for _, x := range outcomes {
		state := w.State(x.IDs)
		if sum += x.P; math.Abs(law[state]-x.P) > 1e-12 {
			t.Errorf("%v: %v has probability %v, want %v", of, x.IDs, x.P, law[state])
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("%v: outcomes add up to %v", of, sum)
	}
	cfg := samplers.Config{Method: s, Seed: 7, Batch: 64, OnStep: func(s samplers.Step) { again += len(s.Masked) }}
	Fits(t, SampleFrom(t, net, w, AllMask(w), cfg, FewerDraws).States, law, level, of...)
	return calls, again
}
