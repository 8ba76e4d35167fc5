package theory_test

import (
	"math"
	"testing"

	"mdmgen/analysis/theory"
)

func near(got, want, tol float64) bool {
	return got == want || math.Abs(got-want) <= tol*max(1, math.Abs(want))
}

// TestTerms compares each term with a computation by hand.
func TestTerms(t *testing.T) {
	a := theory.Theorem2(3, 4, 5, 0.01, 0.5, 0.2)
	if !near(a.Sum(), 3*math.Exp(-5)+0.2+0.5*12*(1-math.Exp(-5)+math.Log(100))+0.03, 1e-14) {
		t.Errorf("Theorem 2: %+v", a)
	}
	b := theory.Corollary1(3, 4, 5, 0.5, 0.25, 0)
	if !near(b.Sum(), 3*math.Exp(-5)+0.5*12*(1-math.Exp(-5)+2), 1e-14) {
		t.Errorf("Corollary 1: %+v", b)
	}
}
