package samplers_test

import (
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestFloat32Gumbel: where no token is rare, its law is the sampler's own, on networks
// with and without time, with masks left and filled; and a call is made only on a canvas
// that has changed.
func TestFloat32Gumbel(t *testing.T) {
	const tests = 2 * 2 * 2
	for _, i := range []int{0, 1} {
		w, laws := openWorld(t, i)
		for _, sampler := range []string{"tweedie", "euler"} {
			for _, finish := range []string{"leave", "denoise"} {
				T, delta := 5.0, 0.01
				o := catalog.Options{Sampler: sampler, Steps: 16, Grid: "paper", T: (*catalog.Theta)(&T), Delta: (*catalog.Theta)(&delta), Finish: finish}
				o.By = draw.ByFloat32Gumbel
				s := newSampler(t, w, o)
				if s.Planned() || !s.Settings().ChangesLaw {
					t.Fatalf("%v: planned %v, changes law %v", s, s.Planned(), s.Settings().ChangesLaw)
				}
				want, _ := laws.Law("paper-16", sampler)
				law := want.Law
				if finish == "denoise" {
					law = spread(w, want.LawDenoised)
				}
				got := sampleMany(t, w, s, 5, fewerDraws)
				if p := reftest.Goodness(got.states, law); p < familyLevel/tests {
					t.Errorf("%s, %v, %s: chi-square p = %.3g", worldNames[i], s, finish, p)
				}
				if most := min(16, w.Facts().Length); !w.Facts().TimeConditioned {
					if _, totals := collect(t, w, repeat(allMask(w), 50), config(w, s, 1)); totals.Calls > 50*most {
						t.Errorf("%v: %d calls for 50 sequences of %d positions", s, totals.Calls, w.Facts().Length)
					}
				}
			}
		}
	}
	if _, err := catalog.New(catalog.Options{Sampler: "fhs", By: draw.ByFloat32Gumbel}, samplers.Spec{}); err == nil {
		t.Error("fhs has no race with MASK, and none is refused")
	}
	if _, err := catalog.New(catalog.Options{Sampler: "euler", By: "float16"}, samplers.Spec{}); err == nil || !strings.Contains(err.Error(), "float32-gumbel") {
		t.Errorf("an unknown draw: %v", err)
	}
}
