package oracle

import (
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/laws/lawstest"
	"mdmgen/samplers/catalog"
)

// TestEntropyBoundedSampler: the sampler has the law, and takes the calls, that are worked out
// by enumeration, on a network with time and on one without.
func TestEntropyBoundedSampler(t *testing.T) {
	const draws, level = 10000, 1e-3
	gammas := []float64{0, 0.6, 0.9, 1.2, 3}
	for _, name := range []string{"markov4-sharp", "timed3"} {
		open, w := lawstest.Open(t, name)
		for i, gamma := range gammas {
			law, calls := entropyBounded(w, gamma)
			s, err := catalog.New(catalog.Options{Sampler: "entropy-bounded", RankOptions: catalog.RankOptions{Gamma: &gamma}}, open.Spec())
			if err != nil {
				t.Fatal(err)
			}
			one := decoderLaw{Canvas: slices.Repeat([]int{w.V}, w.D), Law: law, Calls: &calls}
			got, err := one.compare(t.Context(), open, s, draws, uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			if got.p < level/10 || math.Abs(got.calls-calls) > 4.5*got.se+1e-12 {
				t.Errorf("%s, gamma %v: p = %.3g, %v calls, want %v", name, gamma, got.p, got.calls, calls)
			}
		}
	}
}
