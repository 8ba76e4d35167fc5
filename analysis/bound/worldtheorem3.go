package bound

import (
	"fmt"
	"math"

	"mdmgen/analysis/theory"
)

// theorem3 adds the least numbers of steps on the two constructions for Theorem 3, which
// do not depend on the world: Euler with constant steps, exact score, T = log(d/√ε), TV ≤ √ε. The
// paper's own construction, a point mass, needs about T·√(d/2)·ε^(−1/4) of them; pairs of equal tokens
// need d/√ε, which proves the statement.
func (l *worldLines) theorem3() {
	var d []int
	var eps, point, pairs []float64
	for _, length := range []int{100, 300, 1000} {
		for _, e := range []float64{1e-3, 1e-4, 1e-5} {
			t := theory.Horizon3(length, e)
			a, b := theory.PointDistance(length, e, t).Steps(), theory.PairsDistance(length, 2, e, t).Steps()
			claim := float64(length) / math.Sqrt(e)
			at := fmt.Sprintf("d=%d.eps=%.0e", length, e)
			l.reported("theorem3.point."+at, "least N with TV ≤ √ε on the paper's construction, beside d/√ε", "steps", float64(a.N), claim)
			l.below("theorem3.pairs."+at, "(1−1/V)(e^(−γ)−√ε)²/(1−(1−√ε)^(2/d)) ≤ least N with TV ≤ √ε on pairs of equal tokens, V = 2", "steps",
				theory.StepsNeeded(length, 2, e, theory.Gamma3(length, e)), float64(b.N), exactTolerance)
			d, eps = append(d, length), append(eps, e)
			point, pairs = append(point, float64(a.N)/t), append(pairs, float64(b.N)/t)
		}
	}
	for _, c := range []struct {
		name string
		y    []float64
	}{{"point", point}, {"pairs", pairs}} {
		fit, err := theory.FitPower(d, eps, c.y)
		if err != nil {
			panic("bound: " + err.Error()) // nine rows determine two exponents
		}
		l.reported("theorem3."+c.name+".exponent-d", "fitted exponent of d in N/T beside the claimed 1 (asymptotic)", "exponent", fit.D, 1)
		l.reported("theorem3."+c.name+".exponent-eps", "fitted exponent of 1/ε in N/T beside the claimed 1/2 (asymptotic)", "exponent", fit.InverseEps, 0.5)
	}
}
