package facts_test

import (
	"math"
	"testing"

	"mdmgen/model/facts"
)

// TestLogMass checks that exact scores, which sum to r over the clean tokens, have mass 1 in both
// forms of the rows.
func TestLogMass(t *testing.T) {
	for _, theta := range []float64{1e-4, 0.3, 1, 7} {
		logRate := -math.Log(math.Expm1(theta))
		scaled := facts.Facts{Output: facts.LogScore, ScaleBySigma: true, Columns: 9}
		if got := scaled.LogMass(logRate+math.Log(math.Expm1(theta))+math.Log(8), theta); math.Abs(got) > 1e-12 {
			t.Errorf("scaled, θ = %v: log-mass %v", theta, got)
		}
		plain := facts.Facts{Output: facts.LogScore, Columns: 9}
		if got := plain.LogMass(logRate, theta); math.Abs(got) > 1e-12 {
			t.Errorf("θ = %v: log-mass %v", theta, got)
		}
		if got := plain.LogMass(logRate+math.Log(2), theta); math.Abs(got-math.Log(2)) > 1e-12 {
			t.Errorf("θ = %v: twice the scores have log-mass %v", theta, got)
		}
		if got := (facts.Facts{Output: facts.Logits}).LogMass(3, theta); got != 0 {
			t.Errorf("logits have log-mass %v", got)
		}
	}
}
