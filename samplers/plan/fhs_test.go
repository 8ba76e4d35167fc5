package plan_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// kolmogorov returns the p-value of the Kolmogorov–Smirnov test that x is uniform on (0,1), by the
// asymptotic law for large samples.
func kolmogorov(x []float64) float64 {
	slices.Sort(x)
	n := float64(len(x))
	var d float64
	for i, v := range x {
		d = max(d, v-float64(i)/n, float64(i+1)/n-v)
	}
	y, p := d*math.Sqrt(n), 0.0
	for k := 1.0; k < 100; k++ {
		p += 2 * math.Pow(-1, k-1) * math.Exp(-2*k*k*y*y)
	}
	return p
}

// TestAlgorithm1 checks Proposition 3 of the paper: for any network, the ratio λ_{k−1}/λ_k of FHS
// is u^(1/k), independently of the past, and the revealed position is uniform among the masked.
func TestAlgorithm1(t *testing.T) {
	const d, n, seed = 5, 20000, 3
	s := lawstest.New(t, catalog.Options{})
	var p plan.Plan
	ratios := make([][]float64, d)
	product := make([]float64, 0, n)
	order := make(map[string]int)
	for i := range uint64(n) {
		lawstest.DrawPlan(t, s, &p, seed, i, lawstest.UpTo(d))
		lambda := 1.0
		var label strings.Builder
		for j, b := range p.Blocks {
			k := d - j
			if len(b.Positions) != 1 || b.Hits[0] != b.Lambda || b.Theta != -math.Log1p(-b.Lambda) {
				t.Fatalf("block %d is %+v", j, b)
			}
			ratios[j] = append(ratios[j], math.Pow(b.Lambda/lambda, float64(k)))
			lambda = b.Lambda
			fmt.Fprint(&label, b.Positions[0])
		}
		order[label.String()]++
		// If consecutive ratios were dependent, their sum modulo 1 would not be uniform.
		product = append(product, math.Mod(ratios[0][i]+ratios[1][i]+ratios[2][i], 1))
	}
	const level = 1e-3 / (d + 2)
	for j, x := range ratios {
		if got := kolmogorov(x); got < level {
			t.Errorf("(λ_%d/λ_%d)^%d: Kolmogorov–Smirnov p = %v", d-j-1, d-j, d-j, got)
		}
	}
	if got := kolmogorov(product); got < level {
		t.Errorf("ratios are dependent: p = %v", got)
	}
	counts := make([]int, 120)
	i := 0
	for _, c := range order {
		counts[i] = c
		i++
	}
	if len(order) != 120 || reftest.Goodness(counts, slices.Repeat([]float64{1.0 / 120}, 120)) < level {
		t.Errorf("orders are not uniform: %d of 120 seen", len(order))
	}
}
