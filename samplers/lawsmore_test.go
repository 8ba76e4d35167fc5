package samplers_test

import (
	"fmt"
	"math"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestFurtherLaws compares the samplers of the theory, on a time-free world and a time-conditioned one,
// with laws enumerated by another program: final states by chi-square, calls by their means. Most laws of planned samplers are only compared in their expected numbers; package laws compares samples with laws.
func TestFurtherLaws(t *testing.T) {
	reftest.Long(t)
	for _, name := range []string{"markov4-sharp", "timed3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, laws := lawstest.MoreLaws(t, name)
			seen := make(map[string]int)
			for _, l := range laws {
				o, ok := l.Options()
				if !ok {
					continue
				}
				if seen[l.Sampler]++; seen[l.Sampler] > 2 && o.Sampler != "entropy-bounded" {
					expected(t, w, &l, reftest.Must(catalog.New(o, w.Spec()))(t))
					continue
				}
				if l.Law != nil {
					o.Finish = "leave"
					further(t, w, &l, o, l.Law)
					o.Finish = "denoise"
				}
				for _, o := range byBoth(o) {
					if o.By == draw.ByInverse || l.Sampler == "eb" {
						further(t, w, &l, o, spread(w, l.LawDenoised))
					}
				}
			}
			if len(seen) < 6 {
				t.Errorf("laws of %v only", seen)
			}
		})
	}
}

// further compares samples with a law.
func further(t *testing.T, w *world.World, l *lawstest.More, o catalog.Options, law []float64) {
	t.Helper()
	const tests = 300 // of both files, for Bonferroni
	s := reftest.Must(catalog.New(o, w.Spec()))(t, l.Sampler)
	got := sampleMany(t, w, s, 1, fewerDraws)
	label := fmt.Sprintf("%s %+v %s", l.Sampler, l.Settings, o.Finish)
	fits(t, got.states, law, familyLevel/tests, label)
	if l.Calls != nil && o.Finish != "leave" {
		got.all.check(t, *l.Calls, label, "calls")
		expected(t, w, l, s)
	}
}

// expected compares the expected number of calls of a planned sampler.
func expected(t *testing.T, w *world.World, l *lawstest.More, s *catalog.Sampler) {
	t.Helper()
	if !s.Planned() {
		return
	}
	got, finish, err := s.ExpectedCalls(w.Facts().Length)
	if err != nil || math.Abs(got+finish-*l.Calls) > 1e-12 {
		t.Errorf("%s %+v: expects %v calls and %v, %v, want %v in all", l.Sampler, l.Settings, got, finish, err, *l.Calls)
	}
}
