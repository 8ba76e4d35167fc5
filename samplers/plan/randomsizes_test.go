package plan_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"testing"

	"mdmgen/analysis/theory"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// waits returns E R_m of random sizes, and the greatest number of groups.
func waits(t *testing.T, o catalog.Options, d int) (mean []float64, most int) {
	t.Helper()
	law := lawstest.New(t, o).Law().(samplers.BySizes)
	total := 0.0
	for sizes, p := range law.Random(d) {
		total += p
		most = max(most, len(sizes))
		end := 0
		for _, n := range sizes {
			if end += n; n < 1 || end > d {
				t.Fatalf("%+v: sizes %v", o, sizes)
			}
		}
		if end != d {
			t.Fatalf("%+v: sizes %v of %d", o, sizes, d)
		}
	}
	if math.Abs(total-1) > 1e-12 {
		t.Errorf("%+v of %d: probabilities sum to %v", o, d, total)
	}
	return theory.MeanWaits(law.Random(d), d), most
}

// rho returns the constant of the bound for a step h of the grid.
func rho(dual bool, h float64) float64 {
	if dual {
		return math.Expm1(h)/h - 1
	}
	return 1 + math.Expm1(-h)/h
}

// TestRandomSizes checks that the probabilities of the sizes sum to 1, that the greatest number of groups
// is min(N, d), and that E R_m is at most ρ(d−m), or ρ·m, for a ρ that decreases about as log(d)/2N.
func TestRandomSizes(t *testing.T) {
	t.Parallel()
	for _, d := range []int{1, 2, 3, 5, 8, 31, 128} {
		for _, n := range []int{1, 2, 3, 4, 7, 8, 16, 30, 64, 200} {
			for _, correlation := range []string{"total", "dual"} {
				mean, most := waits(t, catalog.Options{Sampler: "random-sizes", Steps: n, PlanOptions: catalog.PlanOptions{Correlation: correlation}}, d)
				if most != min(n, d) {
					t.Errorf("%s, %d groups of %d positions: up to %d", correlation, n, d, most)
				}
				worst := 0.0
				for m := 1; m < d; m++ {
					of := d - m
					if correlation == "dual" {
						of = m
					}
					worst = max(worst, mean[m]/float64(of))
				}
				limit := float64(d - 1) // TC is at most (d−1)·DTC
				if h := (math.Log(float64(d)) + 1) / float64(n-1); correlation == "total" {
					limit = min(1, rho(false, h))
				} else if n > 1 {
					limit = rho(true, math.Log(float64(d))/float64(n-1))
				}
				if d > 1 && worst > limit*(1+1e-9) {
					t.Errorf("%s, %d groups of %d positions: E R_m is %v times what it is set beside, want at most %v", correlation, n, d, worst, limit)
				}
			}
		}
	}
}

// TestRandomSizesDrawn checks that plans have the sizes of the law, each with a uniform order.
func TestRandomSizesDrawn(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	const n, d = 40000, 5
	for _, o := range []catalog.Options{{Sampler: "random-sizes", Steps: 2}, {Sampler: "random-sizes", Steps: 3}, {Sampler: "random-sizes", Steps: 3, PlanOptions: catalog.PlanOptions{Correlation: "dual"}}} {
		s := lawstest.New(t, o)
		law := s.Law().(samplers.BySizes)
		var want []float64
		at := make(map[string]int)
		for sizes, p := range law.Random(d) {
			for first := range d {
				for last := range d {
					key := fmt.Sprint(sizes, first, last)
					if _, ok := at[key]; first != last && !ok {
						at[key] = len(want)
						want = append(want, 0)
					}
					if first != last {
						want[at[key]] += p / d / (d - 1)
					}
				}
			}
		}
		got := make([]int, len(want))
		var p plan.Plan
		for i := range uint64(n) {
			lawstest.DrawPlan(t, s, &p, 5, i, lawstest.UpTo(d))
			var sizes, order []int
			for _, b := range p.Blocks {
				sizes, order = append(sizes, len(b.Positions)), append(order, b.Positions...)
			}
			got[at[fmt.Sprint(sizes, order[0], order[d-1])]]++
		}
		if p := reftest.Goodness(got, want); p < 1e-4 {
			t.Errorf("%v: p = %v", s, p)
		}
	}
}

// TestRandomSizesPage checks the page's values of the greatest share of TC, and of DTC, that any
// distribution of 128 tokens loses by random sizes, and by equal ones.
func TestRandomSizesPage(t *testing.T) {
	t.Parallel()
	const d = 128
	share := func(mean []float64, of func(m int) float64) (most float64) {
		for m := 1; m < d; m++ {
			most = max(most, mean[m]/of(m))
		}
		return most
	}
	ahead, behind := func(m int) float64 { return float64(d - m) }, func(m int) float64 { return float64(m) }
	table := "| calls | TC: `correlation=total` | equal sizes | DTC: `correlation=dual` | equal sizes |\n| ---: | ---: | ---: | ---: | ---: |\n"
	for _, n := range []int{4, 8, 16, 32, 64} {
		total, _ := waits(t, catalog.Options{Sampler: "random-sizes", Steps: n}, d)
		dual, _ := waits(t, catalog.Options{Sampler: "random-sizes", Steps: n, PlanOptions: catalog.PlanOptions{Correlation: "dual"}}, d)
		equal := make([]float64, d)
		for m := range equal {
			equal[m] = float64((d - m) % (d / n))
		}
		table += fmt.Sprintf("| %d | %.3g | %.3g | %.3g | %.3g |\n", n, share(total, ahead), share(equal, ahead), share(dual, behind), share(equal, behind))
	}
	page := reftest.Must(os.ReadFile("../../docs/research/interactions.md"))(t)
	if !bytes.Contains(page, []byte(table)) {
		t.Errorf("docs/research/interactions.md does not have\n%s", table)
	}
}
