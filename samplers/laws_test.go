package samplers_test

import (
	"iter"
	"math"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/exact"
)

// worldNames lists the reference worlds. The first four are in the module, so that their tests
// never skip.
var worldNames = []string{
	"timed3", "xor3-mixed", "theorem5-point3", "markov3-exact",
	"dirichlet3-noisy", "markov4-sharp", "nested3-exact", "pairs4-exact", "parity4-exact",
}

func openWorld(t testing.TB, i int) *world.World {
	t.Helper()
	return reftest.Must(world.Open(reftest.Law(t, worldNames[i])))(t)
}

// repeat yields n sequences of one canvas, indices from 0.
func repeat(canvas []int, n int) iter.Seq[samplers.Sequence] {
	return func(yield func(samplers.Sequence) bool) {
		for i := range n {
			if !yield(samplers.Sequence{Index: uint64(i), Canvas: canvas}) {
				return
			}
		}
	}
}

// allMask returns the fully masked canvas of a world.
func allMask(w *world.World) []int {
	canvas := make([]int, w.Facts().Length)
	for l := range canvas {
		canvas[l] = w.Facts().MaskID
	}
	return canvas
}

func config(w *world.World, s *catalog.Sampler, seed uint64) samplers.Config {
	return configOf(s, samplers.Config{Seed: seed, Batch: 64})
}

func newSampler(t testing.TB, w *world.World, o catalog.Options) *catalog.Sampler {
	t.Helper()
	return made(t, o, w.Spec())
}

// average is a mean of numbers with its standard error.
type average struct{ n, sum, squares float64 }

func (a *average) add(x float64) { a.n, a.sum, a.squares = a.n+1, a.sum+x, a.squares+x*x }

// check fails the test unless the expectation is within 4 standard errors of the mean.
func (a *average) check(t testing.TB, want float64, of ...any) {
	t.Helper()
	mean := a.sum / a.n
	if se := math.Sqrt(max(a.squares/a.n-mean*mean, 0) / a.n); math.Abs(mean-want) > 4*se+1e-9 {
		t.Errorf("%v: %.5f, expected %.5f ± %.5f", of, mean, want, se)
	}
}

// share fails the test unless the expectation of zeros and ones is within 4 of its standard errors.
func (a *average) share(t testing.TB, want float64, of ...any) {
	t.Helper()
	if se := math.Sqrt(want * (1 - want) / a.n); math.Abs(a.sum/a.n-want) > 4*se+1e-9 {
		t.Errorf("%v: %.5f, expected %.5f ± %.5f", of, a.sum/a.n, want, se)
	}
}

// tally is the result of a run of many sequences.
type tally struct {
	// states counts final states, and before the states that a finishing call fills.
	states, before     []int
	calls, finish, all average
}

// states returns the number of states of a world.
func states(w *world.World) int {
	out := 1
	for range w.Facts().Length {
		out *= w.Facts().Columns + 1
	}
	return out
}

// sampleMany draws n sequences of a world and counts final states in base V+1.
func sampleMany(t testing.TB, w *world.World, s *catalog.Sampler, seed uint64, n int) tally {
	t.Helper()
	return sampleFrom(t, w, w, allMask(w), config(w, s, seed), n)
}

// sampleFrom fills a canvas of a world n times by a network that may change the world's rows.
func sampleFrom(t testing.TB, net samplers.Network, w *world.World, canvas []int, cfg samplers.Config, n int) tally {
	t.Helper()
	out := tally{states: make([]int, states(w)), before: make([]int, states(w))}
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
	if _, err := samplers.Sample(t.Context(), net, repeat(canvas, n), cfg, func(r samplers.Result) error {
		out.states[w.State(r.IDs)]++
		for _, l := range filled {
			r.IDs[l] = w.Facts().MaskID
		}
		filled = filled[:0]
		out.before[w.State(r.IDs)]++
		out.calls.add(float64(r.Calls))
		out.finish.add(float64(r.FinishCalls))
		out.all.add(float64(r.Calls + r.FinishCalls))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// fits fails the test unless counts follow a law, by chi-square at a level.
func fits(t testing.TB, counts []int, law []float64, level float64, of ...any) {
	t.Helper()
	if p := reftest.Goodness(counts, law); p < level {
		t.Errorf("%v: chi-square p = %.3g: below %.3g", of, p, level)
	}
}

// outcomesFit fails the test unless outcomes have a law and sum to 1.
func outcomesFit(t testing.TB, w *world.World, outcomes []exact.Outcome, law []float64, of ...any) {
	t.Helper()
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
}

// spread turns a law over V^d clean sequences into one over (V+1)^d states.
func spread(w *world.World, clean []float64) []float64 {
	d, v := w.Facts().Length, w.Facts().Columns
	out := make([]float64, states(w))
	for i, p := range clean {
		s, scale := 0, 1
		for range d {
			s += i % v * scale
			i /= v
			scale *= v + 1
		}
		out[s] = p
	}
	return out
}

// lawTests is the number of chi-square tests of TestLaws over all worlds: FHS and Tweedie from T =
// ∞, with both exact draws, and four rules on two grids with masks left and denoised. familyLevel
// is the probability that at least one of them fails although all laws are right; by Bonferroni
// each test has level familyLevel/lawTests.
const (
	lawTests    = 9 * (2 + 4*2*2 + 2)
	familyLevel = 1e-3
)

// lawDraws is the number of sequences in each chi-square test of TestLaws, which are many, on laws
// that are close to each other, and fewerDraws the number in tests of other laws.
const (
	lawDraws   = 20000
	fewerDraws = 10000
)

// TestLaws compares every time-driven sampler with the exact laws in all nine
// worlds, by chi-square over all states, and the mean number of calls with its
// expectation.
func TestLaws(t *testing.T) {
	reftest.Long(t)
	const n = lawDraws
	for i, name := range worldNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openWorld(t, i)
			const level = familyLevel / lawTests
			test := func(label string, o catalog.Options, law []float64, calls, finish float64) tally {
				got := sampleMany(t, w, newSampler(t, w, o), 1, n)
				fits(t, got.states, law, level, label)
				got.calls.check(t, calls, label, "calls")
				got.finish.share(t, finish, label, "finishing calls")
				return got
			}
			d := float64(w.Facts().Length)
			law := lawstest.LawOf(t, w, "lambda-8", "tweedie")
			for _, o := range byBoth(catalog.Options{}) {
				test("fhs, "+string(o.By), o, spread(w, lawstest.FHS(t, w)), d, 0)
				o.Sampler, o.Grid, o.Steps = "tweedie", "lambda", 8
				test("tweedie lambda, "+string(o.By), o, law.Law, law.ExpectedNonemptyStep, 0)
			}
			T, delta := 5.0, 0.01
			for _, grid := range []string{"uniform", "paper"} {
				for sampler, ref := range map[string]string{"euler": "euler", "tweedie": "tweedie", "one": "tau_leaping_one", "any": "tau_leaping_any"} {
					o := catalog.Options{Sampler: sampler, Steps: 8, PlanOptions: catalog.PlanOptions{Grid: grid, T: (*catalog.Theta)(&T), Delta: (*catalog.Theta)(&delta)}}
					if sampler == "one" || sampler == "any" {
						o.Sampler, o.Tau = "tau-leaping", sampler
					}
					law := lawstest.LawOf(t, w, grid+"-8", ref)
					label := sampler + " " + grid
					got := test(label+" denoise", o, spread(w, law.Denoised), law.ExpectedNonemptyStep, 1-math.Pow(1-law.LeftMasked, d))
					fits(t, got.before, law.Law, level, label, "leave")
					// The same sequences, except that no call fills what is left.
					o.Finish = "leave"
					left := sampleMany(t, w, newSampler(t, w, o), 1, n/10)
					o.Finish = "denoise"
					filled := sampleMany(t, w, newSampler(t, w, o), 1, n/10)
					if !slices.Equal(left.states, filled.before) || left.calls != filled.calls || left.finish.sum != 0 {
						t.Errorf("%s leave: states %v in %v calls and %v to finish, want %v in %v", label, left.states, left.calls, left.finish, filled.before, filled.calls)
					}
				}
			}
		})
	}
}
