package quality_test

import (
	"flag"
	"math"
	"testing"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// seeds is the number of seeds of TestTwoLawsCover: 2000 when run by hand.
var seeds = flag.Int("seeds", 60, "seeds of the coverage of KL's intervals")

// TestTwoLawsCover compares both distances with those enumerated on a world with two laws: intervals of 95 %
// cover them for at least 93.5 % of 2000 seeds, less what few seeds may lack by chance. Bounds by paths are
// above one and below the other.
func TestTwoLawsCover(t *testing.T) {
	t.Parallel()
	const d, v = 4, 2
	w := lawstest.NewCausal(t, 9, d, v, 3, 0.6)
	e := reftest.Must(likelihood.New(w, likelihood.Options{Blocks: true}))(t)
	text := likelihood.Target{IDs: make([]int, d), Free: []int{1, 2, 3}}
	for _, o := range []catalog.Options{{Sampler: "spread", Steps: 1}, {Sampler: "parallel-fhs", Steps: 2}} {
		s := lawstest.NewFor(t, o, w.Spec())
		var forward, reverse float64 // enumerated
		for n := range 1 << 3 {
			x := likelihood.Target{IDs: []int{0, n >> 2, n >> 1 & 1, n & 1}, Free: text.Free}
			p, q := w.Log(x.IDs, x.Free), -reftest.Must(e.Values(t.Context(), []likelihood.Target{x}, s))(t)[0].Sampler.NegLog
			forward += math.Exp(p) * (p - q)
			reverse += math.Exp(q) * (q - p)
		}
		covered := [2]int{}
		for seed := range *seeds {
			got := reftest.Must(quality.TwoLaws(t.Context(), e, text, s, 1, quality.Config{Samples: 64, Seed: uint64(seed), Confidence: 0.95}))(t)
			if !got.Exact {
				t.Fatalf("%s is not exact", o.Sampler)
			}
			for k, x := range []estimate.Estimate{got.FromCausal, got.ToCausal} {
				if want := []float64{forward, reverse}[k] / 3; x.Lo <= want && want <= x.Hi {
					covered[k]++
				}
			}
		}
		least := 0.935*float64(*seeds) - 2.5*math.Sqrt(0.935*0.065*float64(*seeds))
		if *seeds >= 2000 {
			least = 0.935 * float64(*seeds)
		}
		for k, n := range covered {
			t.Logf("%s: KL %.4f, %.4f: covered for %d of %d seeds", o.Sampler, forward, reverse, n, *seeds)
			if float64(n) < least {
				t.Errorf("%s, distance %d: %d of %d intervals cover it", o.Sampler, k, n, *seeds)
			}
		}
		if !(forward > 0.01 && reverse > 0.01) {
			t.Errorf("%s: KL %v and %v tell nothing", o.Sampler, forward, reverse)
		}
	}
}

// TestTwoLawsRefused names what has no distance.
func TestTwoLawsRefused(t *testing.T) {
	t.Parallel()
	w := lawstest.NewCausal(t, 9, 3, 2, 2, 0.6)
	e := reftest.Must(likelihood.New(w, likelihood.Options{Blocks: true}))(t)
	for name, want := range map[string]string{"speculate": "causal law itself", "remdm": "no plans inside blocks"} {
		s := lawstest.NewFor(t, catalog.Options{Sampler: name}, w.Spec())
		reftest.FailsInLine(t, reftest.Err(quality.TwoLaws(t.Context(), e, likelihood.Target{IDs: make([]int, 3), Free: []int{1, 2}}, s, 1, quality.Config{Samples: 2})), want)
	}
}
