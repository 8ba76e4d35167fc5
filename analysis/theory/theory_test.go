package theory_test

import (
	"math"
	"testing"

	"mdmgen/analysis/theory"
	"mdmgen/internal/reftest"
)

// TestTerms compares each term with a computation by hand.
func TestTerms(t *testing.T) {
	a := theory.Theorem2(3, 4, 5, 0.01, 0.5, 0.2)
	if !reftest.Near(a.Sum(), 3*math.Exp(-5)+0.2+0.5*12*(1-math.Exp(-5)+math.Log(100))+0.03, 1e-14) {
		t.Errorf("Theorem 2: %+v", a)
	}
	b := theory.Corollary1(3, 4, 5, 0.5, 0.25, 0)
	if !reftest.Near(b.Sum(), 3*math.Exp(-5)+0.5*12*(1-math.Exp(-5)+2), 1e-14) {
		t.Errorf("Corollary 1: %+v", b)
	}
}
