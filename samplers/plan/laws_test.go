package plan_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/catalog"
)

// worldNames lists the reference worlds. The first four are in the module, so that their tests
// never skip.
var worldNames = []string{
	"timed3", "xor3-mixed", "theorem5-point3", "markov3-exact",
	"dirichlet3-noisy", "markov4-sharp", "nested3-exact", "pairs4-exact", "parity4-exact",
}

// lawTests is the number of chi-square tests of TestLaws over all worlds: FHS and Tweedie from T =
// ∞, with both exact draws, and four rules on two grids with masks left and denoised.
const lawTests = 9 * (2 + 4*2*2 + 2)

// lawDraws is the number of sequences in each chi-square test of TestLaws, which are many, on laws
// that are close to each other.
const lawDraws = 6000

// TestLaws compares every time-driven sampler with the exact laws in all nine
// worlds, by chi-square over all states, and the mean number of calls with its
// expectation.
func TestLaws(t *testing.T) {
	reftest.Long(t)
	const n = lawDraws
	for _, name := range worldNames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, theory := lawstest.Open(t, name)
			const level = lawstest.FamilyLevel / lawTests
			test := func(label string, o catalog.Options, law []float64, calls, finish float64) lawstest.Tally {
				got := lawstest.Sample(t, w, lawstest.NewFor(t, o, w.Spec()), 1, n)
				lawstest.Fits(t, got.States, law, level, label)
				got.Calls.Check(t, calls, label, "calls")
				got.Finish.Share(t, finish, label, "finishing calls")
				return got
			}
			d := float64(w.Facts().Length)
			law := lawstest.LawOf(t, w, "lambda-8", "tweedie")
			for _, o := range byBoth(catalog.Options{}) {
				test("fhs, "+string(o.By), o, theory.OnStates(lawstest.FHS(t, w)), d, 0)
				o.Sampler, o.Grid, o.Steps = "tweedie", "lambda", 8
				test("tweedie lambda, "+string(o.By), o, law.Law, law.ExpectedNonemptyStep, 0)
			}
			for _, grid := range []string{"uniform", "paper"} {
				for sampler, ref := range map[string]string{"euler": "euler", "tweedie": "tweedie", "one": "tau_leaping_one", "any": "tau_leaping_any"} {
					o := catalog.Options{Sampler: sampler, Steps: 8, PlanOptions: catalog.PlanOptions{Grid: grid, T: new(catalog.Theta(5)), Delta: new(catalog.Theta(0.01))}}
					if sampler == "one" || sampler == "any" {
						o.Sampler, o.Tau = "tau-leaping", sampler
					}
					law := lawstest.LawOf(t, w, grid+"-8", ref)
					label := sampler + " " + grid
					got := test(label+" denoise", o, theory.OnStates(law.Denoised), law.ExpectedNonemptyStep, 1-math.Pow(1-law.LeftMasked, d))
					lawstest.Fits(t, got.Before, law.Law, level, label, "leave")
					// The same sequences, except that no call fills what is left.
					o.Finish = "leave"
					left := lawstest.Sample(t, w, lawstest.NewFor(t, o, w.Spec()), 1, n/10)
					o.Finish = "denoise"
					filled := lawstest.Sample(t, w, lawstest.NewFor(t, o, w.Spec()), 1, n/10)
					if !slices.Equal(left.States, filled.Before) || left.Calls != filled.Calls || left.Finish.Sum != 0 {
						t.Errorf("%s leave: states %v in %v calls and %v to finish, want %v in %v", label, left.States, left.Calls, left.Finish, filled.Before, filled.Calls)
					}
				}
			}
		})
	}
}

// TestFurtherLaws compares the planned samplers of the theory, on a time-free world and a
// time-conditioned one, with laws enumerated by another program: final states by chi-square, calls by
// their means. Most laws are only compared in their expected numbers; package laws compares samples
// with laws.
func TestFurtherLaws(t *testing.T) {
	reftest.Long(t)
	for _, name := range []string{"markov4-sharp", "timed3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, list := lawstest.MoreLaws(t, name)
			space := laws.NewSpace(w.Facts().Length, w.Facts().Columns)
			seen := make(map[string]int)
			for _, l := range list {
				o, ok := l.Options()
				if !ok || l.Sampler == "eb" {
					continue
				}
				if seen[l.Sampler]++; seen[l.Sampler] > 2 {
					expected(t, w, &l, lawstest.NewFor(t, o, w.Spec()))
					continue
				}
				if l.Law != nil {
					o.Finish = "leave"
					further(t, w, &l, o, l.Law)
					o.Finish = "denoise"
				}
				further(t, w, &l, o, space.OnStates(l.LawDenoised))
			}
			if len(seen) < 5 {
				t.Errorf("laws of %v only", seen)
			}
		})
	}
}

// further compares samples with a law.
func further(t *testing.T, w *world.World, l *lawstest.More, o catalog.Options, law []float64) {
	t.Helper()
	const tests = 300 // of both files, for Bonferroni
	s := lawstest.NewFor(t, o, w.Spec())
	got := lawstest.Sample(t, w, s, 1, lawstest.FewerDraws)
	label := fmt.Sprintf("%s %+v %s", l.Sampler, l.Settings, o.Finish)
	lawstest.Fits(t, got.States, law, lawstest.FamilyLevel/tests, label)
	if l.Calls != nil && o.Finish != "leave" {
		got.All.Check(t, *l.Calls, label, "calls")
		expected(t, w, l, s)
	}
}

// expected compares the expected number of calls.
func expected(t *testing.T, w *world.World, l *lawstest.More, s *catalog.Sampler) {
	t.Helper()
	got, finish, err := s.ExpectedCalls(w.Facts().Length)
	if err != nil || math.Abs(got+finish-*l.Calls) > 1e-12 {
		t.Errorf("%s %+v: expects %v calls and %v, %v, want %v in all", l.Sampler, l.Settings, got, finish, err, *l.Calls)
	}
}
