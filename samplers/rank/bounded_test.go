package rank_test

import (
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/draw"
)

// TestBoundedLaws compares entropy-bounded with laws enumerated by another program: final states by
// chi-square, calls by their means.
func TestBoundedLaws(t *testing.T) {
	reftest.Long(t)
	for _, name := range []string{"markov4-sharp", "timed3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, list := lawstest.MoreLaws(t, name)
			space := laws.NewSpace(w.Facts().Length, w.Facts().Columns)
			seen := 0
			for _, l := range list {
				o, ok := l.Options()
				if !ok || o.Sampler != "entropy-bounded" {
					continue
				}
				for _, o.By = range []draw.By{draw.ByInverse, draw.ByGumbel} {
					const tests = 300 // a bound for both files, for Bonferroni
					got := lawstest.Sample(t, w, lawstest.NewFor(t, o, w.Spec()), 1, lawstest.FewerDraws)
					lawstest.Fits(t, got.States, space.OnStates(l.LawDenoised), lawstest.FamilyLevel/tests, l.Settings, o.By)
					if l.Calls != nil {
						got.All.Check(t, *l.Calls, l.Settings, o.By, "calls")
					}
					seen++
				}
			}
			if seen == 0 {
				t.Error("no laws")
			}
		})
	}
}
