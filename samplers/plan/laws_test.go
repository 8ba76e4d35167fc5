package plan_test

import (
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
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

// TestAtRandomTimes compares samplers that query a time-conditioned network at random times with laws
// enumerated by another program: final states by chi-square, calls by their means. Other laws of that
// program are compared with the exact ones of package laws by tools/oracle.
func TestAtRandomTimes(t *testing.T) {
	reftest.Long(t)
	w, list := lawstest.MoreLaws(t, "timed3")
	space := laws.NewSpace(w.Facts().Length, w.Facts().Columns)
	seen := make(map[string]int)
	for _, l := range list {
		o, _ := l.Options()
		if !slices.Contains([]string{"fhs_parallel", "uniformization", "matu"}, l.Sampler) || seen[l.Sampler] == 2 {
			continue
		}
		seen[l.Sampler]++
		compare := func(finish string, law []float64) lawstest.Tally {
			const tests = 300 // for Bonferroni
			o.Finish = finish
			got := lawstest.Sample(t, w, lawstest.NewFor(t, o, w.Spec()), 1, lawstest.FewerDraws)
			lawstest.Fits(t, got.States, law, lawstest.FamilyLevel/tests, l.Sampler, l.Settings, finish)
			return got
		}
		if l.Law != nil {
			compare("leave", l.Law)
		}
		got := compare("", space.OnStates(l.LawDenoised))
		got.All.Check(t, *l.Calls, l.Sampler, l.Settings, "calls")
	}
	if len(seen) != 3 {
		t.Errorf("laws of %v only", seen)
	}
}
