package oracle

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(got, want, tol float64) bool {
	return got == want || math.Abs(got-want) <= tol*max(1, math.Abs(want))
}

// TestTruncatedGumbel compares with draws, and with no truncation.
func TestTruncatedGumbel(t *testing.T) {
	p := []float64{0.1, 0.5, 0.15, 0.25}
	for i, q := range TruncatedGumbel(p, 40) {
		if !near(q, p[i], 1e-14) {
			t.Errorf("far truncation: %v, want %v", q, p[i])
		}
	}
	const n, most = 400000, 1.0
	r := rand.New(rand.NewPCG(1, 2))
	counts := make([]float64, len(p))
	for range n {
		best, at := math.Inf(-1), 0
		for i := range p {
			// u below exp(−e^(−M)).
			g := -math.Log(-math.Log(r.Float64() * math.Exp(-math.Exp(-most))))
			if x := math.Log(p[i]) + g; x > best {
				best, at = x, i
			}
		}
		counts[at]++
	}
	sum := 0.0
	for i, q := range TruncatedGumbel(p, most) {
		sum += q
		if se := math.Sqrt(q*(1-q)/n) + 1e-9; math.Abs(counts[i]/n-q) > 4.5*se {
			t.Errorf("category %d: %v, drawn %v ± %v", i, q, counts[i]/n, se)
		}
	}
	if !near(sum, 1, 1e-14) {
		t.Errorf("sums to %v", sum)
	}
}

// TestGrid24 has closed forms for two categories: with equal chances ties, of
// probability 1/(2^24−1), go to nobody.
func TestGrid24(t *testing.T) {
	got := Grid24([]float64{0.5, 0.5})
	if !near(got[0]+got[1], 1, 1e-6) || !near(got[0], 0.5, 1e-6) {
		t.Errorf("equal chances: %v", got)
	}
	got = Mdlm32([]float64{0.5, 0.5})
	if !near(got[0]+got[1], 1, 1e-12) || got[0] < got[1] || got[0]-got[1] > 1e-6 {
		t.Errorf("equal chances, first on ties: %v", got)
	}
}

// TestAncestralPairs has its three values by hand.
func TestAncestralPairs(t *testing.T) {
	tv, kl, calls := AncestralPairs(4, 2, 2)
	if !near(tv, 1-9./16, 1e-15) || !near(kl, -2*math.Log(0.75), 1e-15) || !near(calls, 2*(1-1./16), 1e-15) {
		t.Errorf("ancestral pairs: %v, %v, %v", tv, kl, calls)
	}
}
