package bound

import (
	"context"
	"fmt"
	"math"

	"mdmgen/analysis/theory"
	"mdmgen/internal/parallel"
)

// count3 is a row for Theorem 3: the least number of constant Euler steps from
// γ+T to γ with TV ≤ √ε, exact score, on a construction.
type count3 struct {
	construction string
	d            int
	eps, t       float64
	found        theory.Count
}

// work finds the number.
func (r *count3) work() {
	if r.construction == "point" {
		r.found = theory.PointDistance(r.d, r.eps, r.t).Steps()
	} else {
		r.found = theory.PairsDistance(r.d, 2, r.eps, r.t).Steps()
	}
}

// theorem3 adds the least numbers of steps on the two constructions for Theorem 3, which
// do not depend on the world: Euler with constant steps, exact score, T = log(d/√ε), TV ≤ √ε. The
// paper's own construction, a point mass, needs about T·√(d/2)·ε^(−1/4) of them; pairs of equal tokens
// need d/√ε, which proves the statement.
func (l *worldLines) theorem3(ctx context.Context) error {
	var rows []count3
	for _, d := range []int{100, 300, 1000} {
		for _, e := range []float64{1e-3, 1e-4, 1e-5} {
			for _, construction := range []string{"point", "pairs"} {
				rows = append(rows, count3{construction: construction, d: d, eps: e, t: theory.Horizon3(d, e)})
			}
		}
	}
	parallel.For(len(rows), func(i int) {
		if ctx.Err() == nil {
			rows[i].work()
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, r := range rows {
		l.count3(r)
	}
	l.fit3(rows)
	return nil
}

// count3 adds the line of a row.
func (l *worldLines) count3(r count3) {
	at := fmt.Sprintf("theorem3.%s.d=%d.eps=%.0e", r.construction, r.d, r.eps)
	if r.construction == "point" {
		l.reported(at, "least N with TV ≤ √ε on the paper's construction, beside d/√ε", "steps", float64(r.found.N), float64(r.d)/math.Sqrt(r.eps))
		return
	}
	l.below(at, "(1−1/V)(e^(−γ)−√ε)²/(1−(1−√ε)^(2/d)) ≤ least N with TV ≤ √ε on pairs of equal tokens, V = 2", "steps",
		theory.StepsNeeded(r.d, 2, r.eps, theory.Gamma3(r.d, r.eps)), float64(r.found.N), exactTolerance)
}

// fit3 adds the exponents of N/T over the rows of each construction.
func (l *worldLines) fit3(rows []count3) {
	for _, construction := range []string{"point", "pairs"} {
		var d []int
		var eps, values []float64
		for _, r := range rows {
			if r.construction == construction && r.found.N > 0 {
				d, eps, values = append(d, r.d), append(eps, r.eps), append(values, float64(r.found.N)/r.t)
			}
		}
		if fit, err := theory.FitPower(d, eps, values); err == nil {
			at := "theorem3." + construction
			l.reported(at+".exponent-d", "fitted exponent of d in N/T beside the claimed 1 (asymptotic)", "exponent", fit.D, 1)
			l.reported(at+".exponent-eps", "fitted exponent of 1/ε in N/T beside the claimed 1/2 (asymptotic)", "exponent", fit.InverseEps, 0.5)
		}
	}
}
