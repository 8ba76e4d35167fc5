package generate

import (
	"math"
	"testing"
)

// TestLogZ checks that the mean is that of the estimates, not of their logarithms, even if these
// are below the range of float64, and that the error is the relative error of the mean.
func TestLogZ(t *testing.T) {
	if newLogZ(nil) != nil || newLogZ([]float64{-3}).Error != nil {
		t.Error("no estimate, or one, has an error")
	}
	for _, shift := range []float64{0, -2000} {
		// Estimates 1, 2 and 6: mean 3, standard deviation √7, standard error √(7/3).
		got := newLogZ([]float64{shift, shift + math.Log(2), shift + math.Log(6)})
		if math.Abs(got.Mean-shift-math.Log(3)) > 1e-12 || math.Abs(*got.Error-math.Sqrt(7./3)/3) > 1e-12 || got.N != 3 {
			t.Errorf("%v: %v ± %v", shift, got.Mean, *got.Error)
		}
	}
	if got := newLogZ([]float64{math.Log(2), 0}).String(); got != "log Z 0.4055 ± 0.33" {
		t.Error(got)
	}
}
