package bound

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync"

	"mdmgen/analysis/theory"
)

// count3 is a row of Theorem 3's tables: the least number of constant Euler steps from
// γ+T to γ with TV ≤ √ε, exact score, on a construction.
type count3 struct {
	construction string
	d            int
	eps, t       float64
	found        theory.Count
}

// work finds the number.
func (r *count3) work() {
	switch r.construction {
	case "point":
		r.found = theory.PointDistance(r.d, r.eps, r.t).Steps()
	case "pairs":
		r.found = theory.PairsDistance(r.d, 2, r.eps, r.t).Steps()
	default:
		r.found = theory.FrozenDistance(r.d, r.eps, r.t).Steps()
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
	if err := inParallel(ctx, len(rows), func(i int) { rows[i].work() }); err != nil {
		return err
	}
	for _, r := range rows {
		l.count3("theorem3."+r.construction, r)
	}
	l.fit3("theorem3.", "N/T", rows, func(r count3) float64 { return float64(r.found.N) / r.t })
	return nil
}

// count3 adds the line of a row.
func (l *worldLines) count3(name string, r count3) {
	eps := fmt.Sprintf("%.0e", r.eps)
	if x, err := strconv.ParseFloat(eps, 64); err != nil || math.Abs(x-r.eps) > 1e-12*r.eps {
		eps = fmt.Sprintf("%.6g", r.eps)
	}
	at, claim := fmt.Sprintf("%s.d=%d.eps=%s", name, r.d, eps), float64(r.d)/math.Sqrt(r.eps)
	switch r.construction {
	case "point":
		l.reported(at, "least N with TV ≤ √ε on the paper's construction, beside d/√ε", "steps", float64(r.found.N), claim)
	case "pairs":
		l.below(at, "(1−1/V)(e^(−γ)−√ε)²/(1−(1−√ε)^(2/d)) ≤ least N with TV ≤ √ε on pairs of equal tokens, V = 2", "steps",
			theory.StepsNeeded(r.d, 2, r.eps, theory.Gamma3(r.d, r.eps)), float64(r.found.N), exactTolerance)
	default:
		l.reported(at, "least N with Theorem 1's right side ≤ √ε, rates frozen, exact score: sufficient for every q0 without MASK, beside d/√ε", "steps", float64(r.found.N), claim)
	}
}

// fit3 adds the exponents of y over the rows of each construction, where they determine
// them; of is what y is.
func (l *worldLines) fit3(prefix, of string, rows []count3, y func(count3) float64) {
	for _, construction := range []string{"point", "pairs", "frozen"} {
		var d []int
		var eps, values []float64
		for _, r := range rows {
			if r.construction == construction && r.found.N > 0 {
				d, eps, values = append(d, r.d), append(eps, r.eps), append(values, y(r))
			}
		}
		if fit, err := theory.FitPower(d, eps, values); err == nil {
			l.reported(prefix+construction+".exponent-d", "fitted exponent of d in "+of+" beside the claimed 1 (asymptotic)", "exponent", fit.D, 1)
			l.reported(prefix+construction+".exponent-eps", "fitted exponent of 1/ε in "+of+" beside the claimed 1/2 (asymptotic)", "exponent", fit.InverseEps, 0.5)
		}
	}
}

// inParallel calls do for 0..n−1, the last first, on all processors, until ctx ends.
func inParallel(ctx context.Context, n int, do func(i int)) error {
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := n - 1; i >= 0 && ctx.Err() == nil; i-- {
		next <- i
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}
