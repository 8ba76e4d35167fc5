package verify_test

import (
	"context"
	"testing"
	"time"

	"mdmgen/analysis/verify"
	"mdmgen/internal/reftest"
)

var lawFiles = []string{"timed3", "xor3-mixed", "theorem5-point3", "markov3-exact", "dirichlet3-noisy", "markov4-sharp", "nested3-exact", "pairs4-exact", "parity4-exact", "maskmass2", "qgamma3", "pairsgamma4", "theorem3", "scaling", "gumbel"}

func TestLaws(t *testing.T) {
	for _, name := range lawFiles {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			r, err := verify.File(context.Background(), nil, reftest.Shared(t, "reference", "laws", name+".json"), -1)
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			bad := 0
			for _, it := range r.Items {
				worst = max(worst, float64(it.MaxDiff))
				if !it.OK {
					if bad++; bad < 15 {
						t.Errorf("%+v", it)
					}
				}
			}
			t.Logf("%d items, worst %.2g, %.1f s", len(r.Items), worst, time.Since(start).Seconds())
		})
	}
}
