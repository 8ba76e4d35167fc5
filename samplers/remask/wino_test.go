package remask_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// winoLaw returns the law of WINO, by its definition, and the expected number of calls.
func winoLaw(w *laws.World, threshold, back float64) (law []float64, calls float64) {
	type place struct {
		l, token int
		sure     float64
	}
	compare := func(a, b place) int { return cmp.Compare(math.Round(a.sure*0x1p40), math.Round(b.sure*0x1p40)) }
	most := w.D + 1
	byCalls := lawstest.Outcomes(w.States*most, func(pick func([]float64) int) int {
		state, revealed, calls := w.AllMask(), 30, 0
		for ; lawstest.Masks(w.Space, state) > 0; calls++ {
			var drawn, stands []place
			for l := range w.D {
				row, token := w.Row(w.Rows(0), w.Hide(state, l), l), w.Token(state, l)
				if token == w.V {
					token = pick(row)
					drawn = append(drawn, place{l, token, row[token]})
				} else if row[token] < back {
					stands = append(stands, place{l, token, row[token]})
				}
			}
			slices.SortStableFunc(drawn, func(a, b place) int { return compare(b, a) })
			slices.SortStableFunc(stands, compare)
			n := 0
			for i, x := range drawn {
				if i == 0 || x.sure > threshold && n < 5 {
					state = w.Reveal(state, x.l, x.token)
					n++
				}
			}
			for i, x := range stands {
				if n > 1 && i < revealed-1 {
					state = w.Hide(state, x.l)
				}
			}
			revealed = n
		}
		return state*most + calls
	})
	law = make([]float64, w.States)
	for i, p := range byCalls {
		law[i/most] += p
		calls += p * float64(i%most)
	}
	return law, calls
}

// TestDrafting checks that samples of wino, and its enumerated outcomes, have the law of its
// definition.
func TestDrafting(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	again := 0
	for _, name := range []string{"markov4-sharp", "xor3-mixed", "markov3-exact"} {
		w, theory := lawstest.Open(t, name)
		for _, test := range []struct{ threshold, back float64 }{{0.3, 0.6}, {0.1, 0.5}, {0.6, 0.9}} {
			s := lawstest.NewFor(t, catalog.Options{Sampler: "wino", RankOptions: catalog.RankOptions{Threshold: test.threshold}, RemaskOptions: catalog.RemaskOptions{ThresholdBack: test.back}}, w.Spec())
			law, want := winoLaw(theory, test.threshold, test.back)
			calls, masked := lawstest.HasLaw(t, w, w, s, law, lawstest.FamilyLevel/9, name, test)
			if again += masked; math.Abs(calls-want) > 1e-9 {
				t.Errorf("%s: %v calls, want %v", s, calls, want)
			}
		}
	}
	if again == 0 {
		t.Error("nothing was ever masked again: the test shows nothing")
	}
}
