package laws_test

import (
	"math"
	"strconv"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/reftest"
)

// TestSharpInTime uses one position, where q0 is certain of token 0 and μ(0) = (1−λ^p)μ0 + λ^p·0.6.
// The NELBO, which equals ε″, is the elementary integral
//
//	−∫_0^1 log(μ0 + zμ0λ^p) dλ = p − log μ0 − log(1+z) − p·₂F₁(1, 1/p; 1+1/p; −z),  z = 0.6/μ0 − 1,
//
// here with 30 digits. The integrand is sharper for larger p.
func TestSharpInTime(t *testing.T) {
	for _, c := range []struct {
		mu0, p float64
		digits string
	}{
		{0.1, 0.3, "0.745853818499410674347281086893"},
		{0.1, 1, "1.15247372992037969876911750934"},
		{0.1, 64, "2.26047585468814959440906889853"},
		{0.1, 1000, "2.29983934727742983836957113126"},
		{1e-3, 4, "3.61498415056959888223222286618"},
		{1e-3, 16, "5.71506122476873543967255842981"},
		{1e-3, 1000, "6.88571633830642115828441949626"},
		{1e-6, 1, "1.51080344925414286999433212471"},
		{1e-6, 8, "6.95471357757224106848735163882"},
		{1e-6, 16, "9.49983108066953278050540356383"},
		{1e-6, 64, "12.5027502464789600352157187058"},
		{1e-6, 1000, "13.7257712840539191824343554483"},
		{1e-12, 4, "4.5057775341309272779704622776"},
		{1e-12, 16, "13.5543132976738026116912759479"},
		{1e-12, 1000, "27.2649697776605607956634883716"},
		// p − log 0.6, for λ^p too small for a float64.
		{0, 12, "12.5108256237659907"},
		{0, 100, "100.510825623765991"},
		{0, 1000, "1000.51082562376599"},
	} {
		want := reftest.Must(strconv.ParseFloat(c.digits, 64))(t)
		table := func(p float64) []float64 { return []float64{0, 0, 0, 0, p, 1 - p} }
		w := laws.FromTables(1, 2, []float64{1, 0}, table(c.mu0), table(0.6), 1, c.p)
		n := w.NELBO()
		for name, got := range map[string]float64{
			"expected": n.Expected, "in t": n.ContinuousT, "in lambda": n.Lambda, "by subsets": n.KSubsets, "over orders": n.AnyOrder,
			"score entropy": w.Proposition2().ScoreEntropyIntegral,
		} {
			if e := math.Abs(got/want - 1); !(e <= 1e-10) {
				t.Errorf("mu0 %g, p %g: %s %.15g, want %s (%.2g)", c.mu0, c.p, name, got, c.digits, e)
			}
		}
	}
}

// TestScoreEntropyOfSmallProbabilities checks that μ/p far below 1 keeps its digits. At d = 1,
// q0 = (½,½), E_x Σ_a (μ − p − p·log(μ/p)) = ½·(−log 2μ_0 − log 2μ_1), times r(t)·λ = α.
func TestScoreEntropyOfSmallProbabilities(t *testing.T) {
	for _, mu := range []float64{0.3, 1e-3, 1e-12, 1e-30, 1e-300} {
		w := laws.FromTables(1, 2, []float64{0.5, 0.5}, []float64{0, 0, 0, 0, mu, 1 - mu}, nil, 0, 0)
		want := math.Exp(-1) / 2 * (-math.Log(2*mu) - math.Log(2*(1-mu)))
		if got := w.ScoreEntropy(1); !(math.Abs(got/want-1) <= 1e-14) {
			t.Errorf("μ = %g: score entropy %v, want %v", mu, got, want)
		}
	}
}
